"""Brazilian Portuguese keywords."""

from bot.language.words.base import Words, numbered, said

PORTUGUESE = Words(
    code="pt",
    verbs={
        "reserve": "reservar reserva reserve",
        "plan": "planejar planeja planeje",
        "watch": "vigiar vigia vigie",
        "status": "status",
        "list": "listar lista liste",
        "extend": "estender estende estenda",
        "cancel": "cancelar cancela cancele",
        "release": "liberar libera libere",
        "handover": "transferir transfere transfira",
        "approve": "aprovar aprova",
        "deny": "negar nega negue",
        "launch": "lançar lança lance",
        "health": "saúde",
        "market": "mercado",
        "calendar": "calendário",
        "budget": "orçamento",
        "digest": "resumo",
        "settings": "configurações",
        "stop": "parar para pare",
        "resume": "retomar retoma retome",
        "help": "ajuda",
    },
    # One letter from English "approve": in other locales it is a typing slip.
    own_verbs={"aprove": "approve"},
    roles={
        "noise": said("por favor|obrigado|obrigada|preciso de|quero|eu quero|eu preciso de"),
        "courtesy": said("por favor|obrigado|obrigada"),
        "article": said("dia|o dia"),
        "of": said("de|do|da"),
        "number": numbered("um/uma|dois/duas|três|quatro|cinco|seis|sete|oito|nove|dez"),
        "one": said("um|uma", 1),
        "machine": said("máquina|máquinas|nó de|nós|instância|instâncias"),
        "unit": {
            **said("semana|semanas", "168"),
            **said("dia|dias", "24"),
            **said("hora|horas", "1"),
            **said("minuto|minutos", "minute"),
            **said("mês|meses|ano|anos|segundo|segundos", "refused"),
        },
        "lasting": said("por|durante|para"),
        "strict": said("pelo menos|no mínimo"),
        "start": said(
            "em|no|na|no dia|em o dia|a partir de|a partir do|a partir da|a partir do dia"
            "|começando em|começando no dia|às|as"
        )
        | said("de|do|da|das|do dia|desde|desde o dia", "from"),
        "at": said("às|as|à|às as|das|da"),
        "at24": said("às|as|à|das|da"),
        "after": said(
            "depois de|depois do|depois da|depois das|depois do dia|após|após o dia"
            "|qualquer dia desde"
            "|qualquer dia a partir de|a qualquer momento a partir de|a qualquer momento desde"
        ),
        "later": said("ou depois|ou mais tarde"),
        "until_time": said("até as|até às"),
        "until": said("até|até o|até a|até o dia|até as|até às"),
        "before": said("antes de|antes do|antes da|antes do dia"),
        "between": said("entre|entre o dia|entre os dias|entre o"),
        "and": said("e|e o dia|e o"),
        "to": said("a|à|às|ao|até|até o|até o dia|até as|até às"),
        "in": said("daqui a|em|dentro de"),
        "asap": said("agora|já|o quanto antes|agora mesmo"),
        "today": said("hoje", 0) | said("amanhã", 1),
        "vague": {
            # The idiom is the day after tomorrow; the words also say "any time after tomorrow".
            **said("depois de amanhã", "second_day"),
            **said("hoje à noite|esta noite|hoje de noite", "night"),
            **said("semana que vem|próxima semana|na próxima semana|na semana que vem", "week"),
            **said(
                "este fim de semana|neste fim de semana|fim de semana|no fim de semana", "weekend"
            ),
            **said("fim do mês|final do mês|no fim do mês|mês que vem|próximo mês", "month_end"),
        },
        "guaranteed": said("garantido|garantida|garantidos|garantidas"),
        "next": said("próximo|próxima"),
        "weekday": numbered(
            "segunda-feira/segunda/segunda feira|terça-feira/terça/terça feira"
            "|quarta-feira/quarta/quarta feira|quinta-feira/quinta/quinta feira"
            "|sexta-feira/sexta/sexta feira|sábado|domingo",
            0,
        ),
        "month": numbered(
            "janeiro/jan|fevereiro/fev|março/mar|abril/abr|maio/mai|junho/jun|julho/jul"
            "|agosto/ago|setembro/set|outubro/out|novembro/nov|dezembro/dez"
        ),
        "part": said("da manhã|de manhã", "morning")
        | said("da tarde|de tarde", "afternoon")
        | said("da noite|de noite", "night")
        | said("da madrugada|de madrugada", "dawn"),
        "clock": said("meio-dia|meio dia|ao meio-dia", 720)
        | said("meia-noite|meia noite|à meia-noite", 0),
        "cap": said("até", "unsure") | said("no máximo|máximo|no máximo de|até no máximo"),
        "dollar": said("dólar|dólares|de dólares"),
        "per_hour": said("por hora|a hora|/hora|por hora de máquina"),
        "thousand": said("mil", 1000),
        "anywhere": said("em qualquer lugar|qualquer lugar"),
        "or": said("e|ou"),
        "region_in": said("em|no|na"),
        "target": {
            **said("no ec2|em ec2|na ec2", "ec2"),
            **said(
                "para um job de treinamento|job de treinamento|no training job"
                "|no job de treinamento|para um trabalho de treinamento",
                "training-job",
            ),
            **said("no hyperpod|em hyperpod|para hyperpod|para o hyperpod", "hyperpod-cluster"),
            **said(
                "como endpoint|como um endpoint|no endpoint|para um endpoint"
                "|para inferência no sagemaker",
                "endpoint",
            ),
            **said("no studio|em studio|para o studio|para studio", "studio-apps"),
            **said("no sagemaker|em sagemaker|na sagemaker", "sagemaker"),
        },
        "spot": {
            **said(
                "pode ser interrompido|pode ser interrompida|pode interromper|aceito spot",
                meaning=True,
            ),
            **said("sem spot|não pode ser interrompido|não pode ser interrompida", meaning=False),
        },
        "use_lead": said("a|com|em"),
        "use": said("de uso|uso|de utilização"),
        "running": said("rodando|rodando por|usando"),
        "per_day": said("por dia|ao dia"),
        "because": said("porque|por que|motivo"),
        "mention_for": said("para|para o|para a"),
        "purpose": said("para"),
        "channel_in": said("em|no"),
        "scope": said("meus|minhas|meu|minha", "mine")
        | said("time|equipe", "team")
        | said("todos|todas|tudo", "all"),
        "action": said("criar|cria|crie", "create") | said("excluir|exclui|exclua", "delete"),
        "extend_by": said("por|em"),
        "handover_to": said("para|a|ao"),
        "yes": said("sim", meaning=True) | said("não", meaning=False),
    },
)
