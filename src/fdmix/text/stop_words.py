"""Stop words of some languages, and lists of stop words in files.

Stop words are articles, pronouns, prepositions, conjunctions and auxiliaries, and the pieces into which an apostrophe
cuts them ("don" and "t").
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

MIN_SHARE_OF_TOKENS = 0.1  # a text is in a language if its stop words have at least this share
STOP_WORDS = {
    "english": """
        a about above after again against all almost alone along already also although always am among an and
        another any anyone anything are aren around as at away back be became because become been before being
        below between both but by came can cannot come could couldn did didn do does doesn doing don done down
        during each either else enough even ever every everyone everything few for from further gave get gets
        getting give given go goes going gone got had hadn has hasn have haven having he hence her here hers
        herself him himself his how however i if in indeed instead into is isn it its itself just keep least
        less let like ll made make makes many may maybe me might mine more most mostly much must mustn my
        myself near neither never next no nobody none nor not nothing now of off often on once one only onto
        or other others otherwise our ours ourselves out over own per perhaps please put quite rather re
        really said same say says see seem seemed seems several shall shan she should shouldn since so some
        somehow someone something sometimes somewhere still such take than that the their theirs them
        themselves then there therefore these they thing things this those though through throughout thus to
        together too toward towards under until unless up upon us use used using ve very via was wasn way we
        well went were weren what whatever when where whereas whether which while who whole whom whose why
        will with within without won would wouldn yes yet you your yours yourself yourselves s t d m""",
    "german": """
        aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf
        aus bei beim bin bis bist bzw da dabei dadurch dafür dagegen daher damit danach dann daran darauf
        darum das dass davon davor dazu dein deine deinem deinen deiner dem den denen denn der deren des
        deshalb dessen dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem
        einen einer eines einige einigem einigen einiger einmal er es etwa etwas euch euer eure eurem euren
        für gar gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem
        ihren ihrer ihres im immer in indem ins ist ja jede jedem jeden jeder jedes jedoch jene jenem jenen
        jener jenes jetzt kann kein keine keinem keinen keiner können könnte mal man manche manchem manchen
        mancher mehr mein meine meinem meinen meiner mich mir mit muss musste müssen nach nicht nichts noch
        nun nur ob oder ohne schon sehr sein seine seinem seinen seiner seit selbst sich sie sind so solche
        solchem solchen soll sollen sollte sondern sonst sowie über um und uns unser unsere unserem unseren
        unter viel viele vielen vom von vor während wann war waren warum was weg weil weiter welche welchem
        welchen welcher wenn wer werde werden wie wieder will wir wird wirst wo wurde wurden würde würden zu
        zum zur zwar zwischen""",
    "french": """
        ai aie ainsi alors après as au aucun aucune auquel aussi autre autres aux avaient avait avant avec
        avez avoir avons ayant bien c car ce ceci cela celle celles celui ces cet cette ceux chaque chez ci
        comme comment contre d dans de depuis des donc dont du elle elles en encore entre es est et étaient
        était étant été être eu eux fait fut furent il ils j je jusqu l la laquelle le lequel les lesquels
        leur leurs lors lorsque lui là m ma mais me même mêmes mes moi moins mon n ne ni non nos notre nous on
        ont ou où par parce pas pendant peu peut plus plusieurs pour pourquoi puis qu quand que quel quelle
        quelles quelque quelques quels qui quoi s sa sans se selon sera seraient serait ses si soi soit son
        sont sous sur t ta tandis te tes toi ton toujours tous tout toute toutes très tu un une vers voici
        voilà vos votre vous y à ça""",
    "spanish": """
        a al algo algunas algunos ante antes aquel aquella aquellos aquí así aun aunque bajo bien cada casi
        como con contra cosa cual cuales cuando cuya cuyo de del desde donde dos durante e el él ella ellas
        ellos en entre era eran eres es esa esas ese eso esos esta está estaba estaban estamos están estar
        estas este esto estos estoy fue fueron fui ha haber había habían han has hasta hay he hemos hizo hoy
        la las le les lo los luego mas más me mi mí mientras mis mismo misma mucho muchos muy nada ni no nos
        nosotros nuestra nuestras nuestro nuestros o os otra otras otro otros para pero poco por porque pues
        puede pueden que qué quien quienes se sea según ser si sí sido siempre sin sino sobre solo sólo son
        soy su sus también tampoco tan tanto te tenía tiene tienen toda todas todavía todo todos tu tú tus un
        una unas uno unos usted ustedes va vamos y ya yo""",
    "italian": """
        a abbia abbiamo ad agli ai al alla alle allo altri altro anche ancora avere aveva avevano c che chi ci
        cioè come con contro cosa così cui d da dagli dai dal dalla dalle dallo degli dei del della delle
        dello dentro di dopo dove due e è ed era erano essere fa fino fra fu gli ha hai hanno ho i il in
        infatti io l la le lei li lo loro lui ma me meno mentre mi mia mie miei mio molto ne negli nei nel
        nella nelle nello noi non nostra nostre nostri nostro o ogni oltre ora per perché però più poi può
        quale quali quando quanto quella quelle quelli quello questa queste questi questo qui s sarà se sei
        sembra sempre senza si sia siamo siano solo sono sopra sotto sta stata state stati stato su sua sue
        sugli sui sul sulla sulle sullo suo suoi tra tu tua tue tuo tuoi tutta tutte tutti tutto un una uno v
        vi voi vostra vostro""",
    "portuguese": """
        a à ao aos aquela aquelas aquele aqueles aquilo as às até através cada com como contra da das de dela
        delas dele deles depois desde dessa desse desta deste do dos e é ela elas ele eles em enquanto entre
        era eram és essa essas esse esses esta está estão estamos estar estas estava este estes eu fazer foi
        foram for há isso isto já lhe lhes mais mas me mesmo meu meus minha minhas muito muitos na não nas nem
        no nos nós nossa nossas nosso nossos num numa o onde os ou outra outras outro outros para pela pelas
        pelo pelos pode podem pois por porque qual quando que quem se seja sem sempre ser será seu seus sido
        só sobre sua suas também tão te tem têm tendo ter teu tinha toda todas todo todos tu tua um uma umas
        uns você vocês""",
    "dutch": """
        aan al alle alleen als altijd andere ben bij bijna daar dan dat de der deze die dit doch doen door dus
        een eens en er ge geen geweest haar had hadden heb hebben heeft hem hen het hier hij hoe hun ik in is
        ja je kan kon konden kunnen maar me meer men met mij mijn moet moeten na naar niet niets nog nu of om
        omdat onder ons onze ook op over reeds sinds te tegen toch toen tot u uit uw van veel voor want waren
        was wat we weer wel welke werd werden wezen wie wij wil worden wordt zal ze zelf zich zij zijn zo
        zoals zonder zou zouden""",
}


@cache
def stop_words(language: str) -> frozenset[str]:
    """The stop words of a language."""
    if language not in STOP_WORDS:
        raise ValueError(
            f"there is no list of stop words for {language!r}; there are {', '.join(STOP_WORDS)}, "
            "or give a file or a list"
        )
    return frozenset(STOP_WORDS[language].split())


def words_of(given: str | tuple[str, ...] | None) -> frozenset[str]:
    """The stop words that `Cleaning.stop_words` stands for; none for "auto", as the language is not known yet."""
    if given is None or given == "auto":
        return frozenset()
    return stop_words(given) if isinstance(given, str) else frozenset(given)


def read_stop_words(path: str | Path) -> tuple[str, ...]:
    """The words of a text file, separated by white space or commas; comments begin with #."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a list of stop words: it is not UTF-8 text") from None
    return tuple(sorted({word for line in lines for word in split_words(line.split("#")[0])}))


def split_words(text: str) -> list[str]:
    """The words of a string, separated by white space or commas."""
    return text.replace(",", " ").split()


def detected_language(counts: Mapping[str, int]) -> str | None:
    """The language whose stop words make up the largest share of the tokens; None if that is under a tenth.

    counts : how often each token was seen

    >>> detected_language({"der": 5, "hund": 3, "und": 2, "katze": 3})
    'german'
    """
    total = sum(counts.values())
    totals = {language: sum(counts.get(word, 0) for word in stop_words(language)) for language in STOP_WORDS}
    best = max(totals, key=lambda language: totals[language])
    return best if total and totals[best] >= MIN_SHARE_OF_TOKENS * total else None
