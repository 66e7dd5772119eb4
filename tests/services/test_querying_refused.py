"""Nothing leads out of a query, and nothing that it says changes anything."""

from pathlib import Path

import pytest

from orgvault.adapters import queries
from orgvault.adapters.queries import BadQuery, NameRefused, NotOneSelect
from orgvault.errors import OrgvaultError
from tests.harbor import Harbor, make_harbor
from tests.services.test_querying import asked


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Harbor:
    """The fixture vault, which no question may change."""
    return make_harbor(tmp_path_factory.mktemp("refused"))


def listing(root: Path) -> dict[str, bytes]:
    """Every file of a vault with its content."""
    paths = (path for path in sorted(root.rglob("*")) if path.is_file())
    return {str(path.relative_to(root)): path.read_bytes() for path in paths}


# ── ways out, and ways in ───────────────────────────────────────────────────────────────────

OUT = {
    "read_text": "SELECT * FROM read_text('{0}')",
    "read_blob": "SELECT * FROM read_blob('{0}')",
    "read_csv": "SELECT * FROM read_csv('{0}')",
    "read_csv of several": "FROM read_csv(['{0}', '{0}'])",
    "read_json": "SELECT * FROM read_json_auto('{0}')",
    "read_parquet": "SELECT * FROM read_parquet('{0}')",
    "parquet_metadata": "SELECT * FROM parquet_metadata('{0}')",
    "sniff_csv": "SELECT * FROM sniff_csv('{0}')",
    "read_duckdb": "SELECT * FROM read_duckdb('{0}')",
    "glob": "SELECT * FROM glob('{1}/*')",
    "quoted glob": "SELECT * FROM \"Glob\"('{1}/*')",
    "glob in a comment's lee": "SELECT /* x */ * FROM -- y\n glob('{1}/*')",
    "glob in a CTE": "WITH x AS (SELECT * FROM glob('{1}/*')) FROM x",
    "glob in a subquery": "SELECT (SELECT count(*) FROM glob('{1}/*'))",
    "glob in a lateral join": "FROM range(1), LATERAL (FROM glob('{1}/*'))",
    "glob through query": "SELECT * FROM query('SELECT * FROM glob(''{1}/*'')')",
    "glob through query_table": "SELECT * FROM query_table('{0}')",
    "serialized": "FROM json_execute_serialized_sql(json_serialize_sql('FROM glob(''{1}/*'')'))",
    "a plan": "SELECT json_serialize_plan('FROM glob(''{1}/*'')')",
    "a file as a table": "SELECT * FROM '{0}'",
    "a file to be described": "DESCRIBE SELECT * FROM '{0}'",
    "a file over http": "SELECT * FROM 'http://127.0.0.1:1/x.parquet'",
    "read_csv over http": "SELECT * FROM read_csv('http://127.0.0.1:1/x.csv')",
    "s3": "SELECT * FROM read_parquet('s3://bucket/x.parquet')",
    "a Python list": "SELECT * FROM hidden_python_list",
    "memory by pointer": "SELECT * FROM pandas_scan(4096::POINTER)",
    "arrow by pointer": "SELECT * FROM arrow_scan(1::POINTER, 1::POINTER, 1::POINTER)",
    "getenv": "SELECT getenv('HOME')",
    "settings": "SELECT * FROM duckdb_settings()",
    "settings as a view": "SELECT * FROM pg_catalog.pg_settings",
    "a setting": "SELECT current_setting('temp_directory')",
    "the log as a view": "FROM duckdb_logs",
    "secrets": "SELECT * FROM duckdb_secrets()",
    "extensions": "SELECT * FROM duckdb_extensions()",
    "which_secret": "SELECT * FROM which_secret('s3://x', 's3')",
    "COPY out": "COPY (SELECT 1) TO '{1}/out.csv'",
    "COPY in": "COPY loaded.claims FROM '{0}'",
    "COPY to a program": "COPY (SELECT 1) TO '/dev/stdout'",
    "EXPORT": "EXPORT DATABASE '{1}/all'",
    "IMPORT": "IMPORT DATABASE '{1}'",
    "ATTACH": "ATTACH '{1}/other.db'",
    "ATTACH sqlite": "ATTACH '{1}/other.db' (TYPE sqlite)",
    "DETACH": "DETACH memory",
    "USE": "USE memory",
    "INSTALL": "INSTALL httpfs",
    "LOAD": "LOAD httpfs",
    "LOAD by path": "LOAD '{0}'",
    "UPDATE EXTENSIONS": "UPDATE EXTENSIONS",
    "CREATE SECRET": "CREATE SECRET (TYPE s3, KEY_ID 'x', SECRET 'y')",
    "SET": "SET enable_external_access = true",
    "SET threads": "SET threads = 64",
    "SET VARIABLE": "SET VARIABLE x = 1",
    "RESET": "RESET lock_configuration",
    "PRAGMA setting": "PRAGMA memory_limit = '64GB'",
    "PRAGMA database_list": "PRAGMA database_list",
    "PRAGMA import": "PRAGMA import_database('{1}')",
    "CALL": "CALL pragma_version()",
    "CALL logging": "CALL enable_logging(storage = 'file', storage_config = {'path': '{1}'})",
    "logging as a table": "FROM enable_logging(storage := 'file', "
    "storage_config := {'path': '{1}'})",
    "profiling as a table": "FROM enable_profiling(save_location := '{1}/p.json')",
    "checkpoint as a table": "FROM force_checkpoint()",
    "FORCE CHECKPOINT": "FORCE CHECKPOINT",
    "VACUUM": "VACUUM",
    "EXPLAIN ANALYZE": "EXPLAIN ANALYZE DELETE FROM loaded.claims",
    "CREATE TABLE": "CREATE TABLE mine AS SELECT 1",
    "CREATE TEMP TABLE": "CREATE TEMP TABLE mine AS SELECT 1",
    "CREATE MACRO": "CREATE MACRO m() AS TABLE FROM glob('{1}/*')",
    "CREATE VIEW": "CREATE OR REPLACE VIEW claims AS SELECT 1",
    "DROP": "DROP VIEW episodes",
    "DROP the rows": "DROP TABLE loaded.episodes",
    "ALTER": "ALTER TABLE loaded.claims ADD COLUMN x INT",
    "TRUNCATE": "TRUNCATE loaded.claims",
    "INSERT": "INSERT INTO loaded.claims BY NAME SELECT 'c-00000000' AS id",
    "UPDATE": "UPDATE loaded.claims SET text = 'x'",
    "DELETE": "DELETE FROM loaded.claims",
    "MERGE": "MERGE INTO loaded.claims USING (SELECT 1) ON true WHEN MATCHED THEN DELETE",
    "INSERT in a CTE": "WITH x AS (INSERT INTO loaded.claims BY NAME SELECT 'x' AS id "
    "RETURNING id) FROM x",
    "DELETE in a CTE": "WITH x AS (DELETE FROM loaded.claims RETURNING id) FROM x",
    "two statements": "SELECT 1; SELECT 2",
    "a statement behind": "SELECT 1; DROP VIEW episodes",
    "a statement behind a comment": "SELECT 1 -- ;\n; DELETE FROM loaded.claims",
    "COMMIT": "COMMIT",
    "a transaction": "BEGIN; DELETE FROM loaded.claims; COMMIT",
    "PREPARE": "PREPARE p AS DELETE FROM loaded.claims",
    "EXECUTE": "EXECUTE p",
    "a sequence": "SELECT nextval('x')",
    "sleep": "SELECT sleep_ms(100000)",
    "pg_sleep": "SELECT pg_sleep(100)",
    "the log": "SELECT write_log('x')",
    "a dynamic PIVOT": "PIVOT episodes ON outcome USING count(*)",
    "nothing": "",
    "a comment": "-- SELECT 1",
    "a semicolon": ";",
    "a parameter": "SELECT $1",
    "half a letter": "SELECT '\udcff'",
    "a novel": "SELECT '" + "x" * 70_000 + "'",
    "no SQL": "show me everything",
}  # fmt: skip


@pytest.mark.parametrize("sql", OUT.values(), ids=OUT)
def test_nothing_leads_out_and_nothing_is_changed(
    place: Harbor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    hidden_python_list = [1, 2]
    monkeypatch.chdir(tmp_path)
    secret = tmp_path / "secret.csv"
    secret.write_text("word\nverysecret\n")
    before = listing(place.root)
    with pytest.raises(OrgvaultError) as failure:
        asked(place, sql.replace("{0}", str(secret)).replace("{1}", str(tmp_path)))
    assert isinstance(failure.value, BadQuery | NotOneSelect | NameRefused)
    said = str(failure.value)
    assert "verysecret" not in said
    assert "\n" not in said
    assert said.startswith(("the query cannot be answered: ", "a query "))
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]
    assert listing(place.root) == before
    assert hidden_python_list


def test_every_table_function_of_the_library_is_known_or_refused(place: Harbor) -> None:
    """One that a new version brings is refused until somebody has looked at it."""
    told = asked(
        place,
        "SELECT DISTINCT function_name FROM duckdb_functions() "
        "WHERE function_type IN ('table', 'table_macro') ORDER BY 1",
    )
    allowed = set(queries._TABLE_FUNCTIONS.split())  # noqa: SLF001 - what is looked at
    reaching = [name for (name,) in told if name not in allowed]
    assert len(reaching) > 40
    for name in reaching:
        with pytest.raises((NameRefused, BadQuery)):
            asked(place, f'SELECT * FROM "{name}"()')  # noqa: S608 - the library's own names


@pytest.mark.parametrize(
    "sql",
    [
        "SHOW TABLES", "DESCRIBE wakes", "SUMMARIZE claims", "VALUES (1, 'x')", "FROM cards",
        "TABLE corrections", "SELECT 1;", "-- hello\nSELECT 1 /* ; DROP */",
        "SELECT 'glob(''*''); DROP TABLE x'", "SELECT '\"function_name\":\"glob\"' AS s",
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5) FROM n",
        "PIVOT episodes ON outcome IN ('done', 'error') USING count(*) GROUP BY agent",
        "UNPIVOT (SELECT 1 AS a, 2 AS b) ON a, b",
        "SELECT unnest(wakes) FROM episodes LIMIT 1", "SELECT * FROM range(3) ORDER BY ALL DESC",
        "SELECT j.value FROM json_each('[1, 2]') j", "SELECT list_transform([1], lambda x: x + 1)",
        "SELECT column_name FROM information_schema.columns WHERE table_name = 'episodes'",
        "SELECT row_number() OVER (PARTITION BY agent ORDER BY finished_at) FROM episodes",
        "SELECT " + " + ".join(["1"] * 300),
        "FROM episodes WHERE " + " OR ".join(["turns > 1"] * 500),
    ],
)  # fmt: skip
def test_what_a_reader_asks_is_answered(place: Harbor, sql: str) -> None:
    assert asked(place, sql)
