"""The refusals that people meet most, in their language; the others are said as services say them.

A key is the `code` of a UserError. English is the services' own sentence, so it is not repeated.
"""

from bot.domain.errors import UserError
from bot.language.speech import language_of

PORTUGUESE = {
    "not_yours": "Só quem pediu, quem é dono ou um administrador pode fazer isso com {name}.",
    "may_not_unverified": "O Slack não confirmou agora quem você é. Tente de novo.",
    "may_not_inactive": "Esta conta está desativada ou é um bot, então não decide nada aqui.",
    "may_not_external": (
        "Você é de outra organização ou workspace. Só membros deste podem gastar aqui."
    ),
    "may_not_not_named": "Você não está entre quem aprova este valor.",
    "may_not_own": "Você pediu isto, ou será dono, então outra pessoa precisa aprovar.",
    "may_not_twice": "Você já aprovou isto. Falta a concordância de outra pessoa.",
    "may_not_ask": "Você ainda não pode pedir capacidade; um administrador pode incluir você.",
    "not_administrator": "Só um administrador pode parar ou retomar as compras.",
    "stranger": "Só membros deste workspace podem me usar.",
    "inactive": "Só pessoas com conta ativa podem me usar.",
    "slack_silent": "O Slack não soube dizer agora quem você é. Tente de novo em um minuto.",
    "unknown": "Não conheço nada com esse número.",
    "too_late": "Isso não pode mais ser feito.",
    "outdated": "Esse botão é de uma versão mais antiga de mim.",
    "settled": "Essa pergunta já está resolvida.",
    "which_one": "Diga qual, pelo número.",
    "not_asked": "Ninguém pediu ainda a aprovação de {name}.",
    "changed_since": "{name} mudou desde que esse cartão foi desenhado. Veja o novo primeiro.",
    "bought_already": "Só se cancela o que ainda não foi comprado; {name} já passou disso.",
}

SPANISH = {
    "not_yours": "Solo quien lo pidió, su dueño o un administrador puede hacer eso con {name}.",
    "may_not_unverified": "Slack no confirmó ahora quién es usted. Inténtelo de nuevo.",
    "may_not_inactive": "Esta cuenta está desactivada o es un bot, así que no decide nada aquí.",
    "may_not_external": (
        "Usted es de otra organización o espacio. Solo los miembros de este pueden gastar aquí."
    ),
    "may_not_not_named": "Usted no está entre quienes aprueban este importe.",
    "may_not_own": "Usted lo pidió, o será su dueño, así que debe aprobarlo otra persona.",
    "may_not_twice": "Usted ya lo aprobó. Falta el acuerdo de otra persona.",
    "may_not_ask": "Aún no puede pedir capacidad; un administrador puede agregarle.",
    "not_administrator": "Solo un administrador puede parar o reanudar las compras.",
    "stranger": "Solo los miembros de este espacio pueden usarme.",
    "inactive": "Solo personas con una cuenta activa pueden usarme.",
    "slack_silent": "Slack no pudo decirme ahora quién es usted. Inténtelo en un minuto.",
    "unknown": "No conozco nada con ese número.",
    "too_late": "Eso ya no se puede hacer.",
    "outdated": "Ese botón es de una versión anterior de mí.",
    "settled": "Esa pregunta ya está resuelta.",
    "which_one": "Diga cuál, por su número.",
    "not_asked": "Nadie ha pedido aún la aprobación de {name}.",
    "changed_since": "{name} cambió desde que se dibujó esa tarjeta. Mire antes la nueva.",
    "bought_already": "Solo se cancela lo que aún no se compró; {name} ya pasó de eso.",
}

REFUSALS = {"pt": PORTUGUESE, "es": SPANISH}


def refusal_words(error: UserError, locale: str) -> str:
    """Return why it did not go on, in the person's language where that is known."""
    known = REFUSALS.get(language_of(locale), {}).get(error.code)
    return error.message if known is None else known.format(**error.named)
