# Written once by `orgvault init --make`, yours from then on.  For the vault's own CI:
#
#	include org.mk
#
# and `make org` runs all that may fail.  Say where orgvault and the vault are, if need be:
# `make org ORGVAULT=.venv/bin/orgvault ORG_VAULT=notes`.

ORGVAULT ?= orgvault
ORG_VAULT ?= .
ORG_RUN = $(ORGVAULT) -C "$(ORG_VAULT)"

.PHONY: org org-check org-compile org-render org-audit org-stats org-proposals org-ledger

org: org-compile org-check org-render org-audit

# Every file against its format; on GitHub the lines of a pull request are annotated.
org-check:
	@$(ORG_RUN) check $(if $(GITHUB_ACTIONS),--format github)

# Whether org-agents.json is what org.yaml gives; `orgvault compile` makes it so.
org-compile:
	@$(ORG_RUN) compile --check

# Whether every agent's core.md is what its claims render to.
org-render:
	@said=$$($(ORG_RUN) compile --check) || exit 1; \
	agents=$$(echo "$$said" | sed -n 's/^.*: up to date (\(.*\))$$/\1/p' | tr -d ,); \
	test "$$agents" != "no agents" || agents=; \
	failed=0; for agent in $$agents; do \
		$(ORG_RUN) memory render "$$agent" --check || failed=1; done; exit $$failed

# Whether history has lost or altered anything; in CI the whole of it must be fetched.
org-audit:
	@$(ORG_RUN) audit

org-stats:
	@$(ORG_RUN) stats

org-proposals:
	@$(ORG_RUN) proposal list

org-ledger:
	@$(ORG_RUN) ledger list
