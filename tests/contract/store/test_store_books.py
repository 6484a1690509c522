"""The audit and small facts, over every store."""

from bot.ports import Store
from tests.contract.store.samples import at, entry


def test_the_audit_shows_a_reservation_oldest_first(store: Store) -> None:
    with store.transaction() as tx:
        for number in range(5):
            tx.audit.append(entry(action=f"a{number}", at=at(number)))
        tx.audit.append(entry(reservation_id=2, purchase_id="p", facts={}))
        tx.audit.append(entry(reservation_id=None))
    with store.reading() as tx:
        assert [one.action for one in tx.audit.of(1)] == ["a0", "a1", "a2", "a3", "a4"]
        assert [one.action for one in tx.audit.of(1, limit=2)] == ["a3", "a4"]
        assert tx.audit.of(2) == (entry(reservation_id=2, purchase_id="p", facts={}),)
        assert tx.audit.of(1)[0] == entry(action="a0")


def test_an_untouched_chain_holds(store: Store) -> None:
    with store.reading() as tx:
        assert tx.audit.verify() == ()
    for number in range(3):
        with store.transaction() as tx:
            tx.audit.append(entry(facts={"ß": f"🚀{number}", "a": '"'}))
            tx.audit.append(entry(reservation_id=None, at=at(0.1)))
    with store.reading() as tx:
        assert tx.audit.verify() == ()


def test_a_fact_is_the_last_value_put(store: Store) -> None:
    with store.transaction() as tx:
        assert tx.facts.get("switch") is None
        tx.facts.put("switch", "off", at=at(0))
        tx.facts.put("switch", "on", at=at(1))
        assert tx.facts.get("switch") == "on"
        tx.facts.drop("switch")
        tx.facts.drop("switch")
        assert tx.facts.get("switch") is None


def test_facts_are_found_by_the_beginning_of_their_name(store: Store) -> None:
    names = ["person:U1", "person:U2", "person", "personal", "person;", "Person:U3", "person:🚀"]
    with store.transaction() as tx:
        for name in names:
            tx.facts.put(name, name.upper(), at=at(0))
    with store.reading() as tx:
        found = tx.facts.starting_with("person:")
        assert dict(found) == {
            name: name.upper() for name in ("person:U1", "person:U2", "person:🚀")
        }
        assert len(tx.facts.starting_with("")) == len(names)
        assert tx.facts.starting_with("%") == {}
