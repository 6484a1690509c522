"""Spanish keywords."""

from bot.language.words.base import Words, numbered, said

SPANISH = Words(
    code="es",
    verbs={
        "reserve": "reservar reserva reserve",
        "plan": "planear planea planee",
        "watch": "vigilar vigila vigile",
        "status": "estado",
        "list": "listar lista liste",
        "extend": "extender extiende extienda",
        "cancel": "cancelar cancela cancele",
        "release": "liberar libera libere",
        "handover": "transferir transfiere transfiera",
        "approve": "aprobar aprueba apruebe",
        "deny": "rechazar rechaza rechace",
        "launch": "lanzar lanza lance",
        "health": "salud",
        "market": "mercado",
        "calendar": "calendario",
        "budget": "presupuesto",
        "digest": "resumen",
        "settings": "ajustes",
        "stop": "parar para pare",
        "resume": "reanudar reanuda reanude",
        "help": "ayuda",
    },
    own_verbs={},
    roles={
        "noise": said("gracias|necesito|quiero|por favor"),
        "courtesy": said("por favor|gracias"),
        "article": said("el|el día|día|los días"),
        "of": said("de|del"),
        "number": numbered("un/uno/una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez"),
        "one": said("un|una", 1),
        "machine": said("máquina|máquinas|nodo|nodos|instancia|instancias"),
        "unit": {
            **said("semana|semanas", "168"),
            **said("día|días", "24"),
            **said("hora|horas", "1"),
            **said("minuto|minutos", "minute"),
            **said("mes|meses|año|años|segundo|segundos", "refused"),
        },
        "lasting": said("por|durante|para"),
        "strict": said("al menos|por lo menos|como mínimo"),
        "start": said(
            "el|el día|en|a partir de|a partir del|a partir del día|empezando el|a las|a la"
        )
        | said(
            "de|del|del día|de las|de la|desde|desde el|desde el día|desde las|desde la", "from"
        ),
        "at": said("a las|a la|de las|de la|a partir de las|desde las"),
        "at24": said("a las|a la|de las|de la|a partir de las|desde las"),
        "after": said(
            "después de|después del|después de las|después de la|después del día|tras el"
            "|en cualquier momento desde"
            "|cualquier día desde|cualquier día a partir de|cualquier día a partir del"
            "|cualquier día desde el|en cualquier momento a partir del"
            "|en cualquier momento desde el"
        ),
        "later": said("o después|o más tarde"),
        "until_time": said("hasta las|hasta la"),
        "until": said("hasta|hasta el|hasta el día|hasta las|hasta la"),
        "before": said("antes de|antes del|antes del día|antes de las|antes de la"),
        "between": said("entre|entre el|entre el día"),
        "and": said("y|y el|y el día"),
        "to": said("a|al|a las|a la|hasta|hasta el|hasta el día|hasta las|hasta la"),
        "in": said("en|dentro de"),
        "asap": said("ahora|ya|cuanto antes|lo antes posible|ahora mismo"),
        "today": said("hoy", 0) | said("mañana", 1) | said("pasado mañana", 2),
        "vague": {
            **said("esta noche|hoy por la noche|hoy a la noche", "night"),
            **said("la próxima semana|próxima semana|la semana que viene|semana que viene", "week"),
            **said("este fin de semana|fin de semana|el fin de semana", "weekend"),
            **said("fin de mes|a fin de mes|final de mes|a final de mes|próximo mes", "month_end"),
        },
        "guaranteed": said("garantizado|garantizada|garantizados|garantizadas"),
        "next": said("próximo|próxima|el próximo|la próxima"),
        "weekday": numbered("lunes|martes|miércoles|jueves|viernes|sábado|domingo", 0),
        "month": numbered(
            "enero/ene|febrero/feb|marzo/mar|abril/abr|mayo|junio/jun|julio/jul|agosto/ago"
            "|septiembre/sep/setiembre|octubre/oct|noviembre/nov|diciembre/dic"
        ),
        "part": said("de la mañana", "morning")
        | said("de la tarde", "afternoon")
        | said("de la noche", "night")
        | said("de la madrugada", "dawn"),
        "clock": said("mediodía|al mediodía|a mediodía", 720)
        | said("medianoche|a medianoche|a la medianoche", 0),
        "cap": said("hasta", "unsure") | said("máximo|como máximo|máximo de|hasta un máximo de"),
        "dollar": said("dólar|dólares|de dólares"),
        "per_hour": said("por hora|la hora|a la hora|/hora|por hora de máquina"),
        "thousand": said("mil", 1000),
        "anywhere": said("en cualquier lugar|cualquier lugar"),
        "or": said("y|o"),
        "region_in": said("en"),
        "target": {
            **said("en ec2", "ec2"),
            **said(
                "para un trabajo de entrenamiento|trabajo de entrenamiento"
                "|para un job de entrenamiento",
                "training-job",
            ),
            **said("en hyperpod|para hyperpod", "hyperpod-cluster"),
            **said("como un endpoint|para un endpoint|para inferencia en sagemaker", "endpoint"),
            **said("en studio|para studio", "studio-apps"),
            **said("en sagemaker", "sagemaker"),
        },
        "spot": {
            **said("puede interrumpirse|pueden interrumpirse|acepto spot", meaning=True),
            **said("sin spot|no puede interrumpirse|no pueden interrumpirse", meaning=False),
        },
        "use_lead": said("a|al|con"),
        "use": said("de uso|uso|de utilización"),
        "running": said("corriendo|funcionando|usando"),
        "per_day": said("al día|por día|cada día"),
        "because": said("porque|motivo"),
        "mention_for": said("para"),
        "purpose": said("para"),
        "channel_in": said("en"),
        "scope": said("mías|míos|mis", "mine")
        | said("equipo", "team")
        | said("todas|todos|todo", "all"),
        "action": said("crear|crea|cree", "create")
        | said("estado", "status")
        | said("eliminar|elimina|elimine", "delete"),
        "extend_by": said("por"),
        "handover_to": said("a|para"),
        "yes": said("sí", meaning=True),
    },
)
