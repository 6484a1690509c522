"""English keywords."""

from bot.language.words.base import Words, numbered, said

ENGLISH = Words(
    code="en",
    verbs={
        "reserve": "reserve",
        "plan": "plan",
        "watch": "watch",
        "status": "status",
        "list": "list",
        "extend": "extend",
        "cancel": "cancel",
        "release": "release",
        "handover": "handover",
        "approve": "approve",
        "deny": "deny",
        "launch": "launch",
        "endpoint": "endpoint",
        "health": "health",
        "market": "market",
        "calendar": "calendar",
        "budget": "budget",
        "digest": "digest",
        "settings": "settings",
        "stop": "stop",
        "resume": "resume",
        "help": "help",
    },
    own_verbs={},
    roles={
        "noise": said("please|thanks|i need|i want|of|the"),
        "courtesy": said("please|thanks"),
        "article": said("the"),
        "of": said("of|of the"),
        "number": numbered("one|two|three|four|five|six|seven|eight|nine|ten"),
        "one": said("a|an|one", 1),
        "machine": said("machine|machines|node|nodes|instance|instances"),
        "gpu": said("gpu|gpus"),
        "unit": {
            **said("w|wk|wks|week|weeks", "168"),
            **said("d|day|days", "24"),
            **said("h|hr|hrs|hour|hours", "1"),
            **said("m|min|mins|minute|minutes", "minute"),
            **said("mo|month|months|yr|year|years|s|sec|second|seconds", "refused"),
        },
        "lasting": said("for"),
        "strict": said("at least|no less than"),
        "start": said("on|starting|starting on|starting from|starting at|start on")
        | said("from", "from"),
        "at": said("at"),
        "after": said(
            "after|any time from|anytime from|any time after|anytime after|from any time after"
        ),
        "later": said("or later"),
        "by": said("by"),
        "until": said("until|till"),
        "before": said("before"),
        "between": said("between"),
        "and": said("and"),
        "to": said("to|until|till"),
        "in": said("in"),
        "asap": said("asap|now|as soon as possible|right now"),
        "today": said("today", 0) | said("tomorrow", 1) | said("the day after tomorrow", 2),
        "vague": {
            **said("tonight", "night"),
            **said("next week", "week"),
            **said("this weekend|the weekend|next weekend", "weekend"),
            **said("end of month|end of the month|the end of the month|next month", "month_end"),
        },
        "guaranteed": said("guaranteed"),
        "next": said("next"),
        "weekday": numbered(
            "monday/mon|tuesday/tue/tues|wednesday/wed|thursday/thu/thur/thurs|friday/fri"
            "|saturday/sat|sunday/sun",
            0,
        ),
        "month": numbered(
            "january/jan|february/feb|march/mar|april/apr|may|june/jun|july/jul|august/aug"
            "|september/sep/sept|october/oct|november/nov|december/dec"
        ),
        "half": said("am|a.m|a.m.", "am") | said("pm|p.m|p.m.", "pm"),
        "part": said("in the morning", "morning")
        | said("in the afternoon", "afternoon")
        | said("in the evening|at night", "night"),
        "clock": said("noon|midday", 720) | said("midnight", 0),
        "cap": said("under|max|maximum|up to|at most|no more than|budget|<="),
        "dollar": said("$|us$|usd|dollar|dollars|us dollars"),
        "per_hour": said("per hour|an hour|/h|/hr|/hour|per machine-hour|per machine hour|hourly"),
        "thousand": said("k|thousand", 1000),
        "anywhere": said("anywhere|in any region"),
        "or": said("or|and"),
        "region_in": said("in"),
        "target": {
            **said("ec2|on ec2|on the ec2", "ec2"),
            **said(
                "training-job|training job|for a training job|as a training job", "training-job"
            ),
            **said("for training on sagemaker|for training jobs", "training-job"),
            **said(
                "hyperpod|hyperpod-cluster|on hyperpod|for hyperpod|a hyperpod cluster"
                "|on a hyperpod cluster|for a hyperpod cluster|on sagemaker hyperpod",
                "hyperpod-cluster",
            ),
            **said(
                "endpoint|as an endpoint|for an endpoint|for inference on sagemaker", "endpoint"
            ),
            **said(
                "studio|studio-apps|on studio|for studio|in studio|on sagemaker studio",
                "studio-apps",
            ),
            **said("on sagemaker|sagemaker", "sagemaker"),
        },
        "spot": {
            **said("spot|spot ok|spot is ok|interruptible|can be interrupted", meaning=True),
            **said("no spot|without spot|not interruptible|cannot be interrupted", meaning=False),
        },
        "use_lead": said("at|with"),
        "use": said("use|utilization|utilisation|usage|of use"),
        "running": said("running|run"),
        "per_day": said("a day|per day|/day|every day|/d"),
        "because": said("because"),
        "mention_for": said("for"),
        "purpose": said("for"),
        "channel_in": said("in"),
        "scope": said("mine", "mine") | said("team", "team") | said("all", "all"),
        "action": said("create", "create") | said("status", "status") | said("delete", "delete"),
        "extend_by": said("by|for"),
        "handover_to": said("to"),
        "yes": said("yes|ok|true|on", meaning=True) | said("no|false|off", meaning=False),
    },
)
