"""Everything that is done with capacity once it is there, wired together."""

from dataclasses import dataclass

from bot.catalog import Catalog
from bot.policy.configuration import Configuration
from bot.ports import Bell, Clock, Endpoints, Leftovers, Machines, Store, Utilisation
from bot.services.duties import Step
from bot.services.endings import cleaning
from bot.services.endings.cleaning import Cleaning
from bot.services.reservations import sequels
from bot.services.running import endpoints
from bot.services.running.endpoint_stages import Stages
from bot.services.running.endpoints import EndpointKeeping
from bot.services.running.healing import Healing
from bot.services.running.kits import Kits
from bot.services.verifying import Verifying
from bot.services.words.telling import Telling


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What these services share with the others."""

    store: Store
    clock: Clock
    endpoints: Endpoints
    machines: Machines
    leftovers: Leftovers
    verifying: Verifying
    telling: Telling
    catalog: Catalog
    configuration: Configuration
    bell: Bell
    utilisation: Utilisation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """The four services and their due steps."""

    kits: Kits
    endpoints: EndpointKeeping
    healing: Healing
    cleaning: Cleaning

    @property
    def steps(self) -> dict[str, Step]:
        """Return the step of each due kind that belongs to them."""
        return {
            sequels.KIT: self.kits.give,
            sequels.SPOT: self.healing.watch,
            sequels.SPOT_LOOK: self.healing.hear,
            sequels.SURVEY: self.cleaning.survey,
            cleaning.STEP: self.cleaning.clean,
            endpoints.STEP: self.endpoints.step,
            endpoints.END: self.endpoints.end,
        }


def uses(means: Means) -> Uses:
    """Wire them; calls nobody."""
    keeping = EndpointKeeping(
        store=means.store,
        clock=means.clock,
        endpoints=means.endpoints,
        stages=Stages(store=means.store, clock=means.clock, endpoints=means.endpoints),
        verifying=means.verifying,
        configuration=means.configuration,
        bell=means.bell,
    )
    return Uses(
        kits=Kits(
            store=means.store,
            clock=means.clock,
            catalog=means.catalog,
            configuration=means.configuration,
        ),
        endpoints=keeping,
        healing=Healing(
            store=means.store,
            clock=means.clock,
            machines=means.machines,
            utilisation=means.utilisation,
            telling=means.telling,
            configuration=means.configuration,
            bell=means.bell,
        ),
        cleaning=Cleaning(
            store=means.store,
            clock=means.clock,
            leftovers=means.leftovers,
            endpoints=keeping,
            verifying=means.verifying,
            configuration=means.configuration,
            bell=means.bell,
        ),
    )
