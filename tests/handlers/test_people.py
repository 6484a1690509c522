"""Who somebody is: Slack's word, remembered no longer than the caller allows."""

from datetime import timedelta

import pytest

from bot.domain.errors import DeliveryError
from tests.handlers.fake_slack import person

DAY = timedelta(days=1)


def test_a_person_has_their_zone_and_language(office):
    lin = office.people.person("U0LIN", max_age=DAY)
    assert (lin.zone, lin.locale, lin.active, lin.external) == (
        "America/Sao_Paulo",
        "pt-BR",
        True,
        False,
    )
    assert office.slack.last("users.info")["include_locale"] in (True, "1", "true")


def test_a_person_is_read_again_only_when_too_old(office):
    for _ in range(2):
        office.people.person("U0ANA", max_age=DAY)
    assert office.slack.count("users.info") == 1
    office.clock.at += timedelta(minutes=2)
    office.slack.people["U0ANA"]["deleted"] = True
    assert not office.people.person("U0ANA", max_age=timedelta(seconds=60)).active


@pytest.mark.parametrize(
    ("user", "flag", "wanted"),
    [
        (person("U1", team="T0OTHER"), "external", True),
        (person("U1", is_stranger=True), "external", True),
        (person("U1", team="T0OTHER", enterprise_user={"teams": ["T0GPU"]}), "external", False),
        (person("U1", deleted=True), "active", False),
        (person("U1", is_bot=True), "bot", True),
        ({"id": "U1", "team_id": "T0GPU"}, "active", True),
        ({"id": "U1"}, "external", True),
    ],
)
def test_flags_come_from_the_fields_that_mean_them(office, user, flag, wanted):
    office.slack.people["U1"] = user
    assert getattr(office.people.person("U1", max_age=DAY), flag) is wanted


@pytest.mark.parametrize("zone", [None, "", "Mars/Olympus", "../etc/passwd", 7])
def test_a_zone_that_is_none_is_utc(office, zone):
    office.slack.people["U1"] = person("U1") | {"tz": zone}
    assert office.people.person("U1", max_age=DAY).zone == "UTC"


def test_somebody_unknown_or_a_slack_that_fails_is_an_error(office):
    with pytest.raises(DeliveryError):
        office.people.person("U0NOBODY", max_age=DAY)
    office.slack.faults["users.info"] = ["500"]
    with pytest.raises(DeliveryError):
        office.people.person("U0ANA", max_age=DAY)


def test_a_group_is_read_again_only_when_too_old(office):
    assert set(office.people.members("S0APPROVERS", max_age=DAY)) == {"U0BRUNO", "U0CARLA"}
    office.slack.groups["S0APPROVERS"] = ["U0CARLA"]
    assert len(office.people.members("S0APPROVERS", max_age=DAY)) == 2
    office.clock.at += timedelta(seconds=61)
    assert office.people.members("S0APPROVERS", max_age=timedelta(seconds=60)) == ("U0CARLA",)
    with pytest.raises(DeliveryError, match="no_such_subteam"):
        office.people.members("S0NONE", max_age=DAY)


def test_a_name_is_given_without_a_ping_once_it_is_known(office):
    assert office.people.name("U0ANA") == "@U0ANA"
    office.people.person("U0ANA", max_age=DAY)
    assert office.people.name("U0ANA") == "U0ANA Name"


def test_a_line_is_still_read_when_slack_can_not_say_who_it_is_today(office):
    office.people.person("U0ANA", max_age=DAY)
    office.clock.at += timedelta(days=2)
    office.slack.faults["users.info"] = ["500"] * 3
    office.command("cancel gpu-42")
    office.work()
    assert office.services.told == [("cancel", 42, "U0ANA")]


@pytest.mark.parametrize(
    ("names", "called"),
    [
        ({"display_name": "\u200b", "real_name": "Bruno B."}, "Bruno B."),
        ({"display_name": "\u202eonurB"}, "onurB"),
        ({"display_name": "", "real_name": "\u2060\ufeff"}, "@U0BRUNO"),
        ({"display_name": 7}, "@U0BRUNO"),
    ],
)
def test_a_name_that_nobody_can_see_is_no_name(office, names, called):
    user = {"profile": {"display_name": names["display_name"]}}
    office.slack.people["U0BRUNO"] = {**person("U0BRUNO"), "real_name": None, **user, **names}
    office.people.person("U0BRUNO", max_age=timedelta(0))
    assert office.people.name("U0BRUNO") == called
