"""Our own sentences to one person, in their language; cards that many read stay in English."""

from bot.language.locales import language_of

ENGLISH = {
    "ask_form": "Your question about {name}",
    "answer_form": "Your answer about {name}",
    "alone_form": "Why alone? Everybody reads it ({name})",
    "form_send_words": "Send",
    "works": "This works:",
    "try": "Try",
    "open_form": "Open the form",
    "form_instead": "Fill in the form instead",
    "choose": "Choose",
    "say_it": "Please say it in the line, or use the form.",
    "one_open": "One thing is open.",
    "no_form": "Slack did not let the form open.",
    "same_line": (
        "That is the same line as {name}, which you sent just now. Nothing new was filed."
    ),
    "file_again": "File it all the same",
    "filed": "{name} is filed. I am reading the market; the card shows what I find.",
    "changed": "{name} is changed.",
    "cancelled": "{name} is cancelled. Nothing was bought.",
    "approved": "You approved {name}.",
    "denied": "You denied {name}.",
    "late": (
        "Slack showed you an error because I was slow to answer. Nothing has been done yet."
        " Do you still want this?"
    ),
    "list_mine": "Yours",
    "list_team": "Your team's",
    "list_all": "Everybody's",
    "list_empty": "{title}: nothing is open.",
    "list_shown": "{title}: {count} shown.",
    "older": "Show older ones",
    "switch_on": "Buying is on.",
    "switch_off": "Buying is stopped: nothing is bought until an administrator resumes it.",
    "switch_shadow": "Shadow mode: everything happens but the purchase itself.",
    "carry_out": "Yes, carry it out",
    "going_on": "I am on it.",
    "looking_again": (
        "That is what AWS showed {age} ago. I am looking again; its card is drawn anew with what"
        " I find."
    ),
    "what": "Machines",
    "length": "How long",
    "when": "When",
    "budget": "At most",
    "target": "Used as",
    "spot": "Interruption",
    "spot_yes": "May be interrupted (Spot is fine)",
    "spot_no": "Must not be interrupted",
    "where": "Regions",
    "use": "Share of the time in use",
    "team": "Team",
    "other": "Anything else",
    "reason": "Reason",
    "form_title": "GPU capacity",
    "form_send": "Request",
    "form_change": "Change",
    "form_close": "Close",
    "why_not": "Why not {name}?",
    "deny": "Deny",
}

PORTUGUESE = {
    "ask_form": "Sua pergunta sobre {name}",
    "answer_form": "Sua resposta sobre {name}",
    "alone_form": "Por que só você? Todos leem ({name})",
    "form_send_words": "Enviar",
    "works": "Isto funciona:",
    "try": "Tente",
    "open_form": "Abrir o formulário",
    "form_instead": "Preencher o formulário",
    "choose": "Escolher",
    "say_it": "Diga na linha ou use o formulário.",
    "one_open": "Falta uma informação.",
    "no_form": "O Slack não deixou o formulário abrir.",
    "same_line": "É a mesma linha de {name}, que você acabou de enviar. Nada novo foi registrado.",
    "file_again": "Registrar mesmo assim",
    "filed": "{name} foi registrado. Estou lendo o mercado; o cartão mostra o que eu achar.",
    "changed": "{name} foi alterado.",
    "cancelled": "{name} foi cancelado. Nada foi comprado.",
    "approved": "Você aprovou {name}.",
    "denied": "Você negou {name}.",
    "late": (
        "O Slack mostrou um erro porque demorei a responder. Nada foi feito ainda."
        " Você ainda quer isto?"
    ),
    "list_mine": "Seus",
    "list_team": "Do seu time",
    "list_all": "De todos",
    "list_empty": "{title}: nada está aberto.",
    "list_shown": "{title}: {count} na lista.",
    "older": "Mostrar os mais antigos",
    "switch_on": "As compras estão ligadas.",
    "switch_off": "As compras estão paradas: nada é comprado até um administrador retomar.",
    "switch_shadow": "Modo de ensaio: tudo acontece, menos a compra.",
    "carry_out": "Sim, execute",
    "going_on": "Já estou cuidando disso.",
    "looking_again": (
        "Isso é o que a AWS mostrava há {age}. Estou olhando de novo; o cartão é redesenhado com"
        " o que eu achar."
    ),
    "what": "Máquinas",
    "length": "Por quanto tempo",
    "when": "Quando",
    "budget": "No máximo",
    "target": "Uso",
    "spot": "Interrupção",
    "spot_yes": "Pode ser interrompido (Spot serve)",
    "spot_no": "Não pode ser interrompido",
    "where": "Regiões",
    "use": "Parte do tempo em uso",
    "team": "Time",
    "other": "Algo mais",
    "reason": "Motivo",
    "form_title": "Capacidade de GPU",
    "form_send": "Pedir",
    "form_change": "Alterar",
    "form_close": "Fechar",
    "why_not": "Por que não {name}?",
    "deny": "Negar",
}

SPANISH = {
    "ask_form": "Tu pregunta sobre {name}",
    "answer_form": "Tu respuesta sobre {name}",
    "alone_form": "¿Por qué sola o solo? Todos lo leen ({name})",
    "form_send_words": "Enviar",
    "works": "Esto funciona:",
    "try": "Prueba",
    "open_form": "Abrir el formulario",
    "form_instead": "Rellenar el formulario",
    "choose": "Elegir",
    "say_it": "Dilo en la línea o usa el formulario.",
    "one_open": "Falta un dato.",
    "no_form": "Slack no dejó abrir el formulario.",
    "same_line": "Es la misma línea de {name}, que acabas de enviar. No se registró nada nuevo.",
    "file_again": "Registrarla de todos modos",
    "filed": "{name} quedó registrado. Estoy leyendo el mercado; la tarjeta muestra lo que halle.",
    "changed": "{name} quedó cambiado.",
    "cancelled": "{name} quedó cancelado. No se compró nada.",
    "approved": "Aprobaste {name}.",
    "denied": "Rechazaste {name}.",
    "late": (
        "Slack mostró un error porque tardé en responder. Aún no se ha hecho nada."
        " ¿Todavía lo quieres?"
    ),
    "list_mine": "Tuyos",
    "list_team": "De tu equipo",
    "list_all": "De todos",
    "list_empty": "{title}: no hay nada abierto.",
    "list_shown": "{title}: {count} en la lista.",
    "older": "Mostrar los más antiguos",
    "switch_on": "Las compras están activas.",
    "switch_off": "Las compras están paradas: nada se compra hasta que un administrador reanude.",
    "switch_shadow": "Modo de ensayo: todo ocurre menos la compra.",
    "carry_out": "Sí, ejecutar",
    "going_on": "Ya me ocupo de ello.",
    "looking_again": (
        "Eso es lo que AWS mostraba hace {age}. Estoy mirando de nuevo; la tarjeta se redibuja con"
        " lo que halle."
    ),
    "what": "Máquinas",
    "length": "Cuánto tiempo",
    "when": "Cuándo",
    "budget": "Como máximo",
    "target": "Uso",
    "spot": "Interrupción",
    "spot_yes": "Puede interrumpirse (Spot sirve)",
    "spot_no": "No puede interrumpirse",
    "where": "Regiones",
    "use": "Parte del tiempo en uso",
    "team": "Equipo",
    "other": "Algo más",
    "reason": "Motivo",
    "form_title": "Capacidad de GPU",
    "form_send": "Pedir",
    "form_change": "Cambiar",
    "form_close": "Cerrar",
    "why_not": "¿Por qué no {name}?",
    "deny": "Rechazar",
}

PHRASES = {"en": ENGLISH, "pt": PORTUGUESE, "es": SPANISH}


def say(key: str, locale: str, **values: str) -> str:
    """Return the sentence in the locale's language, with its values."""
    return PHRASES[language_of(locale)][key].format(**values)
