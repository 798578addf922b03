"""Writes graphiti.jsonl: nodes, facts and episodes of a Graphiti graph. Run by its own environment: `make test-importers`.

Graphiti's own classes keep them in its database and read them back; its models, which would find the facts, are not asked.
"""

import asyncio
import os
import sys
import warnings
from datetime import UTC, datetime
from pathlib import Path

os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
warnings.simplefilter("ignore", DeprecationWarning)
from graphiti_core.driver.kuzu_driver import KuzuDriver
from graphiti_core.edges import EntityEdge, EpisodicEdge
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode


def day(number: int) -> datetime:
    return datetime(2026, 1, number, 12, tzinfo=UTC)


async def fill(driver: KuzuDriver) -> None:
    ana = EntityNode(
        name="Ana", group_id="shop", labels=["Person"], summary="Leads billing", attributes={"team": "billing"}
    )
    billing = EntityNode(name="billing", group_id="shop")
    said = EpisodicNode(
        name="stand-up", group_id="shop", source=EpisodeType.message, source_description="chat",
        content="ana: I lead billing since January", valid_at=day(2), created_at=day(2),
    )  # fmt: skip
    leads = EntityEdge(
        group_id="shop", source_node_uuid=ana.uuid, target_node_uuid=billing.uuid, name="LEADS",
        fact="Ana leads billing", fact_embedding=[0.1] * 4, episodes=[said.uuid], created_at=day(3), valid_at=day(1),
    )  # fmt: skip
    ended = EntityEdge(
        group_id="shop", source_node_uuid=ana.uuid, target_node_uuid=billing.uuid, name="WORKS_ON",
        fact="Ana works on refunds", created_at=day(1), valid_at=day(1), invalid_at=day(4), expired_at=day(5),
    )  # fmt: skip
    said.entity_edges = [leads.uuid]
    for node in (ana, billing):
        node.name_embedding = [0.1] * 4
        await node.save(driver)
    await said.save(driver)
    for edge in (leads, ended):
        edge.fact_embedding = [0.1] * 4
        await edge.save(driver)
    await EpisodicEdge(group_id="shop", source_node_uuid=said.uuid, target_node_uuid=ana.uuid, created_at=day(2)).save(
        driver
    )


async def export(driver: KuzuDriver, groups: list[str], path: Path) -> None:
    """As in docs/how-to/coming-from/graphiti.md."""
    with path.open("w", encoding="utf-8") as file:
        for kind in (EntityNode, EntityEdge, EpisodicNode):
            for one in await kind.get_by_group_ids(driver, groups):
                print(one.model_dump_json(), file=file)


async def main() -> None:
    driver = KuzuDriver()
    await fill(driver)
    await export(driver, ["shop"], Path(sys.argv[1]))
    await driver.close()


asyncio.run(main())
