"""Which language a text may be in: function words of English and of others in Latin letters, and the share of those."""

from __future__ import annotations

import re

_FOREIGN = "[^\\W\\d_\u0000-\u024f]"
_LETTER = r"[^\W\d_]"


def latin_share(text: str) -> float:
    """The share of a text's letters that are Latin; 1 for a text without letters."""
    if text.isascii():
        return 1.0
    letters = len(re.findall(_LETTER, text))
    return 1.0 - len(re.findall(_FOREIGN, text)) / letters if letters else 1.0


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = _words("""
    the of and to is that it with be are this from at by not have has had we you they he she his her my our your their
    which when what where who how why does did should would can will been were there than then them its but if so
    only about into after before on i'm it's don't doesn't i've we're that's
""")
# Without the words that English has too: "die", "in", "for", "an", "was", "no".
OTHERS = (
    _words("""
    der das und ist nicht ein eine einen einem mit für auf den dem des von zu im wir ich sie er es sind wird werden hat
    haben auch nur noch wenn aber nach bei über oder kein keine mehr schon dass weil zum zur vom beim als wie
    sein sonst müssen muss musst kann können könnte soll sollen sollte darf dürfen diese dieser dieses diesem diesen
    ihr ihre ihrer ihren uns unser unsere unserer unserem unseren mein meine meinen meiner dein deine sich hatte
    hatten waren wurde wurden wäre würde jetzt immer niemals alles allem beide jeder jede jedes ohne gegen zwischen
    unter vor während damit obwohl sondern wann warum mich dich ihm ihn ihnen etwas nichts viel viele sehr ganz gibt
    geht macht bitte deren dessen daher deshalb trotzdem wieder bereits zwei drei andere anderen welcher solche
    statt wegen außer bevor nachdem sobald dabei dazu davon darauf darüber dafür worden gewesen bist seid habe hast
    werde wollen möchte eigentlich vielleicht gerade erst
    het een van niet op voor met zijn naar wij ook maar dat deze wordt heeft hebben bij uit geen nog dan
    moet moeten altijd nooit onze mijn zonder tegen tussen daar waar werd hij haar jij jullie kunnen toch omdat
    og det er ikke på til som av jeg har vi med å och att är inte från ett jag ikke der af
    le la les des et est une pour dans que qui pas sur avec ce cette il elle nous vous sont au aux par plus mais du ne
    notre votre leur leurs être avoir peut peuvent doit doivent tout tous toute toutes très aussi comme entre chez
    depuis toujours jamais alors donc quand où après là c'est j'ai d'un d'une qu'il qu'on n'est était sera lui même
    chaque avons fois elles
    el los las y es para con por se del una lo su al como más pero muy ya hay este esta son está cuando también
    sus desde hasta donde porque todos toda todas nuestro nuestra nuestros nuestras hacer puede pueden hemos tiene
    tienen hace siempre nunca otro otra otros mismo aquí así tras ese esos eso estos estas esto aunque mientras
    deben sólo después antes quien cual
    o os um uma não com da dos das em mais você ele ela isso foi são às pela pelo quando também já ao na nos
    seu sua seus suas nosso nossa nossos nossas depois sempre muito têm fazer pode podem devem tudo onde então só
    pelos pelas aos isto esse essa até nós estão foram
    il gli di che è un non nel sono alla dei più anche questo ho ha ci si dal delle
    della degli dello nella nelle sul sulla sui dove perché tutto tutti tutte ogni molto essere può possono devono
    nostro nostra loro suo senza poi ancora così quello quella uno abbiamo agli dopo prima
    și este nu pe cu din care sunt la
    się nie jest że od dla przez tylko jak tak ale że pro jsou ze
    ve bir bu için ile de çok gibi on ei että mutta kun oli és az egy nem hogy
    yang dan ini itu dengan untuk tidak dari akan pada
""")
    - ENGLISH
    - _words("a an as at do he i in is it me no on so to us we was die for her his man per among")
)
