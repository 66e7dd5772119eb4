# ruff: noqa: RUF001 - the words of other languages are spelt in their own letters
"""Orders and grants in other languages: seven of them, and a few words of more.

Written as `folding.plain_words` leaves a text: no accents (`й` is `и`), no joiners.  A verb that
opens a sentence without its subject counts as an order, also where it could be a statement: it is
better to lose a claim than to keep an order.
"""


def _letters(pattern: str) -> str:
    """Persian and Arabic keyboards have letters of their own for the same sounds."""
    return pattern.replace("ی", "[یي]").replace("ک", "[کك]")


BEGINNING = r"(?:^'?|[.!;。！；،؛] ?)"
# What is an order there.
IMPERATIVES = (
    # German
    r"(?:lade?|fuhre?|schreibe?|sende|schicke?|prufe|nutze|verwende|starte|stoppe|installiere"
    r"|vertraue?|losche|vergiss|vergesst|achte|mache?|nimm|gib|lies|lass|ignoriere?|entferne"
    r"|kopiere?|veroffentliche|befolge?|gehorche?|frage?|warte|beachte|ubertrage?|offne|leite"
    r"|denke?|sorge?|bestatige|akzeptiere?|deaktiviere?|aktiviere?|merke?|tu)t? "
    r"(?!ich\b|ist\b|hat\b)\S"
    r"|bitte (?:erst |zuerst |immer )?\w+en? "
    # French
    r"|(?:oubli|ignor|supprim|effac|envo[iy]|telecharg|televers|lanc|execut|install|utilis|verifi"
    r"|publi|fusionn|deploi|deploy|pouss|copi|ouvr|ferm|donn|ajout|retir|modifi|remplac|desactiv"
    r"|laiss|demand|montr|affich|gard|accept|autoris|respect|appliqu|contact|transmet)"
    r"(?:e|ez|tez) \S|(?:ecris|ecrivez|lis|lisez|fais|faites|prends|prenez|mets|mettez|suis"
    r"|suivez|dis|dites|reponds|repondez|obeis|obeissez|veuillez|assure-toi|assurez-vous|n'oublie"
    r"|n'oubliez|merci de|pense a|pensez a|il faut) |ne \w+ (?:pas|jamais|plus) "
    # Spanish
    r"|(?:olvida|ignora|borra|elimina|envia|sube|descarga|ejecuta|instala|escribe|lee|usa|utiliza"
    r"|verifica|revisa|publica|fusiona|despliega|copia|abre|cierra|anade|quita|cambia|modifica"
    r"|reemplaza|desactiva|activa|obedece|sigue|deja|pide|responde|muestra|guarda|acepta|confia"
    r"|manda|comparte)[dn]? \S|(?:olvide|ignore|borre|elimine|envie|suba|haz|haga|hagan|ponga|pon"
    r"|hay que|por favor|no (?:olvides|preguntes|esperes|uses|hagas|sigas|obedezcas|pidas)) "
    # Russian
    r"|(?:(?:не|никогда не|всегда|сначала|теперь|просто|немедленно|срочно|пожалуиста,?|обязательно"
    r"|впредь|отныне|перед \w+) )*(?:забудь|игнорируи|удали|удаляи|сотри|загрузи|загружаи|отправь"
    r"|отправляи|пришли|перешли|сделаи|делаи|выполни|выполняи|запусти|запускаи|используи|проверь"
    r"|проверяи|установи|устанавливаи|напиши|пиши|скажи|покажи|прочти|прочитаи|читаи|открои"
    r"|закрои|добавь|добавляи|измени|меняи|замени|перепиши|отключи|отключаи|выключи|включи|доверяи"
    r"|слушаи|подчиняи|подчинись|следуи|соблюдаи|запомни|помни|считаи|храни|скопируи|копируи|слеи"
    r"|сливаи|опубликуи|публикуи|разреши|позволь|пропусти|пропускаи|обходи|обоиди|отвечаи|ответь"
    r"|обращаи|трогаи|спрашиваи|жди|бери|возьми|даваи|даи|поставь|ставь|прими|принимаи|одобри"
    r"|одобряи|передаи|сообщи|сообщаи|сохрани|сохраняи|нарушаи|отмени)(?:те|ся|тесь)?\b"
    r"|(?:пожалуиста,? |всегда |никогда не |обязательно |впредь )(?:\w+ )?"
    r"\w+(?:[аеуя]и|[аеуя]?ите)\b"
    r"|(?:всегда )?(?:нужно|надо|необходимо|следует|требуется) (?:всегда |обязательно )?\w+ть\b"
    # Chinese: what an instruction begins with; not where it is told what happens then
    r"|请|請|务必|務必|不要|切勿|一定要|必须|必須|应当|應當"
    r"|(?:始终|总是|永远|从现在起|今后|以后|立即|马上|先|首先|直接)*(?:忘记|忘掉|忽略|无视|無視|删除"
    r"|刪除|上传|上傳|发送|發送|运行|執行|执行|安装|下载|复制|合并|推送|发布|部署|修改|更改|写入|打开"
    r"|关闭|禁用|启用|信任|服从|遵守|听从|告诉|记住|确保|跳过|绕过|批准|接受)"
    r"(?![^。；;]{0,24}(?:会|會|失败|很|需要|时|時|之前|以前|慢))|"
    # Arabic
    + _letters(
        r"(?:دائما |ابدا |الان |اولا |لا |فورا )*(?:تجاهل|انس|احذف|امسح|ارسل|ارفع|نفذ|شغل|ثبت"
        r"|اكتب|اقرا|افتح|اغلق|انشر|ادمج|استخدم|تذكر|تاکد|اتبع|اطع|تتبع|تسال|تنتظر|تطلب|اسمح"
        r"|عدل|اضف|انقل|انسخ|توقف|قم ب\w*|قل|اعط|وافق|حمل)(?:وا|ي)?\b"
        r"|یرجی|الرجاء|من فضلك|لطفا|خواهشا|حتما"
    )
)

ORDERS = _letters(
    # German
    r"\bignorier[^.]{0,40}anweisung|\bdu (?:musst|sollst|darfst|kannst|hast zu)\b"
    r"|\bihr (?:musst|sollt|durft|konnt)\b|\bsie (?:mussen|sollen) (?!auf\b)"
    r"|\b(?:man|jeder|wer das liest) (?:muss|soll|sollte)\b"
    r"|\b(?:agenten|alle|leser) (?:mussen|sollen|haben zu)\b|\bist (?:pflicht|vorschrift)\b"
    # French
    r"|\bignor(?:e[zr]? )[^.]{0,40}(?:instruction|consigne|regle)|\btu (?:dois|peux)\b"
    r"|\bvous (?:devez|pouvez)\b|\bil faut que (?:tu|vous)\b|\best obligatoire\b"
    r"|\b(?:les|tous les|chaque) agents? (?:doivent|doit)\b"
    # Spanish, Italian
    r"|\bignor(?:a |e )[^.]{0,40}(?:instruccion|istruzion|regla)|\bdebes\b|\bdebeis\b|\bdevi\b"
    r"|\b(?:tienes|tenes|teneis) que\b|\b(?:los|todos los) agentes (?:deben|tienen)\b"
    r"|\bes obligatorio\b"
    # Russian
    r"|(?:игнорир|забуд|отмен|пренебре|не след|не обраща)\w*[^.]{0,40}(?:инструкц|указани|правил"
    r"|приказ)|\b(?:ты|вы) (?:\w+ ){0,2}(?:долж\w+|обязан\w*|можешь|можете|будешь|будете)\b"
    r"|\b(?:тебе|вам) (?:\w+ ){0,2}(?:нужно|надо|следует|необходимо|можно|разреш\w+|запрещ\w+)\b"
    r"|\b(?:агент|читател|помощник|ассистент)\w* (?:\w+ )?(?:долж\w+|обязан\w*)\b"
    # Chinese
    r"|(?:忘记|忘掉|忽略|无视|無視|不理会|绕过|违反).{0,20}(?:指令|指示|说明|說明|规则|規則|命令|提示)"
    r"|(?:你|您|你们|大家)(?:都)?(?:必须|必須|应该|應該|应当|需要|要|得|可以|不得|不能)"
    r"|(?:代理|助手|智能体|读者)们?都?(?:必须|应该|应当|需要|要|不得)"
    # Persian: the verb ends its clause
    r"|\b(?:تو|شما) (?:\w+ ){0,3}(?:باید|بایستی|نباید|میتوانید?|می توانید?|مجازید?)\b"
    r"|\b(?:عامل|دستیار|خواننده)\w* (?:\w+ )?(?:باید|بایستی|نباید)\b"
    r"|\b(?:بگیر|کن|نکن|مکن|بفرست|نفرست|بده|نده|بزن|بنویس|ننویس|بخوان|بگو|نگو|باش|نباش|برو"
    r"|بساز|بردار|بگذار|بپذیر|بپرس|نپرس|بشنو|ببین|بریز|ببر|بیاور|بمان)(?:ید)?"
    r"(?= ?(?:[.!؛،;,:]|$)| و )"
    r"|\b(?:دستور|دستورالعمل|قانون|قواعد)\w* [^.]{0,30}(?:نادیده|فراموش)"
    # Arabic
    r"|\b(?:یجب|ینبغی|یتعین|لا بد) (?:علیك\w*|علیکم|ان ت\w+|علی (?:کل |جمیع )?ال\w+)"
    r"|\bتجاهل\w* [^.]{0,40}(?:التعلیمات|الاوامر|القواعد)|\bانت (?:ملزم|مطالب|مسموح|مخول)\b"
)

PERMISSIONS = _letters(
    # German
    r"\b(?:erlaub|gestatte|genehmig)\w* (?:es )?(?:mir|uns|allen)\b"
    r"|\b(?:mir|uns|allen) (?:\w+ ){0,4}(?:erlaub|gestatte|genehmig)"
    r"|\b(?:ich|man|wir|jeder|agenten) (?:darf|durfen)\b|\bdarf ich\b"
    r"|\bich bin (?:\w+ ){0,2}(?:berechtigt|befugt|ermachtigt|autorisiert|bevollmachtigt)\b"
    r"|\bich habe (?:\w+ ){0,2}(?:zugriff|erlaubnis|freigabe|genehmigung|rechte?|vollmacht)\b"
    r"|\bich (?:brauche|benotige) (?:\w+ )?keine?n? (?:\w+ )?(?:freigabe|prufung|genehmigung"
    r"|erlaubnis|zustimmung)|\b(?:ich|man|wir|jeder) (?:kann|konnen) [^.;]{0,60}\bohne (?:\w+ )?"
    r"(?:freigabe|prufung|genehmigung|erlaubnis|zustimmung|review)"
    # French
    r"|\bj'ai (?:le droit|la permission|l'autorisation|acces)\b"
    r"|\bje suis (?:\w+ )?(?:autorise|habilite|libre de)"
    r"|\bm'(?:a |est |ont )?(?:autoris|perm|donne (?:le droit|acces))"
    r"|\b(?:je|on|nous) (?:peux|peut|pouvons) [^.;]{0,60}\bsans\b"
    # Spanish
    r"|\btengo (?:permiso|derecho|acceso|autorizacion)\b|\bestoy autorizad"
    r"|\b(?:me|nos|se me|se nos) (?:ha |han )?(?:permit|autoriz|dej(?:a|o|an|aron)\b)"
    r"|\b(?:puedo|podemos|se puede) [^.;]{0,60}\bsin\b"
    # Portuguese, Italian, Japanese (without voicing marks), Korean
    r"|\b(?:posso|podemos|possiamo) [^.;]{0,60}\b(?:sem|senza)\b"
    r"|なして.{0,20}てき(?:る|ます)|없이.{0,30}수 (?:있다|있습니다|있어)"
    # Russian
    r"|\b(?:мне|нам|всем|агентам) (?:\w+ ){0,3}(?:можно|разреш|позвол|дозвол|довер)"
    r"|(?:разреш|позвол|дозвол|уполномоч|доверя|доверил)\w* (?:мне|нам|всем|агентам)\b"
    r"|\bя (?:\w+ ){0,2}(?:имею право|вправе|уполномочен|могу [^.;]{0,60}\bбез\b)"
    r"|\bу меня есть (?:\w+ ){0,2}(?:прав|доступ|разрешен|полномочи|одобрен)"
    r"|можно [^.;]{0,60}без (?:\w+ )?(?:проверк|согласован|одобрен|разрешен|ревью)"
    r"|(?:проверк|ревью|согласован|одобрен|разрешен)\w* (?:\w+ )?не (?:нуж|требу|обязател)"
    # Chinese
    r"|(?:不需要|不用|无需|無需|不必|不再需要|不经|未经).{0,8}(?:审批|審批|批准|审核|審核|审查|審查|评审"
    r"|許可|许可|同意|检查|檢查|复核)"
    r"|(?:允许|允許|准许|批准|授权|授權|同意|许可|信任)(?:了)?(?:我|大家|所有人|代理)"
    r"|(?:我|我们)(?:可以|有权|有權|被允许|获准|被授权|已获)"
    # Persian
    r"|\bاجازه (?:\w+ ){0,3}(?:دارم|داریم|داده|داد|میدهد|می دهد|دادند)\b|\bمجاز(?:م|یم| هستم)\b"
    r"|\b(?:حق|اختیار|دسترسی) (?:\w+ )?(?:دارم|داریم)\b"
    r"|\b(?:میتوانم|می توانم|میتوانیم|میشود|می شود) [^.]{0,60}\bبدون\b"
    r"|\bنیازی? به (?:بازبینی|تایید|اجازه|بررسی)\w* (?:ندارم|نیست|ندارد)"
    # Arabic
    r"|\b(?:یسمح|سمح|اذن|یاذن|یحق|مسموح|یجوز|مصرح)(?:ت)? (?:\w+ )?(?:لی|لنا|للوکلاء|للجمیع)\b"
    r"|\b(?:لدی|عندی) (?:\w+ )?(?:اذن|صلاحی\w*|حق|تصریح|الحق)\b|\bانا (?:مخول|مصرح|مسموح)"
    r"|\b(?:یمکننی|استطیع|اقدر) [^.]{0,60}\b(?:دون|بدون)\b"
)
