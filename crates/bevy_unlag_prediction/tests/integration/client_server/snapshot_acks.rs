//! Snapshot acknowledgements in move packets.

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, LastReceivedSnapshot, MoveSystems, SnapshotAcks, Tick};

use crate::client_server::common::*;

/// Ticks by which the received snapshots are behind the client's own tick.
const BEHIND: i32 = 5;

/// Returns a pair whose client receives a snapshot every tick and fires in every seventh move.
fn pair(profile: LinkProfile) -> Pair {
    let mut pair = Pair::new(3, profile);
    let receive = |tick: Res<CurrentTick>, mut received: ResMut<LastReceivedSnapshot>| {
        received.record(tick.0.offset(-BEHIND));
    };
    pair.client.app.add_systems(FixedUpdate, receive.before(MoveSystems::Step));
    pair.play(
        |tick| if tick % 7 == 0 { WalkerInput::EAST.with(WalkerInput::FIRE) } else { WalkerInput::EAST },
    );
    pair
}

/// Returns for each event by how many ticks the server's value exceeds what the client had received at the
/// move; `None` if the server has no value.
fn ack_excess(pair: &Pair) -> Vec<Option<i32>> {
    let events = pair.server.res::<MessageLog<Walker>>().events.iter();
    events.map(|event| Some(event.last_received_snapshot?.since(event.tick.offset(-BEHIND)))).collect()
}

#[test]
fn move_has_the_snapshot_ack_of_its_own_packet() {
    let mut pair = pair(LinkProfile { jitter: 0.03, ordered: true, ..LinkProfile::late(0.08) });
    pair.run(10.0);
    let ack_excess = ack_excess(&pair);
    // Moves wait in the queue while newer packets arrive, which must not change their value.
    assert!(ack_excess.len() > 80 && ack_excess.iter().all(|more| *more == Some(0)), "{ack_excess:?}");
    let queued_ticks =
        pair.server.res::<MessageLog<Walker>>().events.iter().map(|event| event.queued_ticks).max();
    assert!(queued_ticks.is_some_and(|queued_ticks| queued_ticks > 1), "{queued_ticks:?}");
}

#[test]
fn lost_packet_raises_the_snapshot_ack_of_a_move_by_less_than_16_ticks() {
    let mut pair = pair(LinkProfile { loss: 0.2, ..LinkProfile::AVERAGE });
    pair.run(20.0);
    let ack_excess = ack_excess(&pair);
    assert!(
        ack_excess.len() > 150
            && ack_excess.iter().all(|more| more.is_some_and(|more| (0..16).contains(&more)))
    );
    assert!(ack_excess.iter().filter(|more| **more > Some(0)).count() > 20, "{ack_excess:?}");
}

#[test]
fn acknowledged_snapshot_never_decreases_nor_exceeds_the_server_tick() {
    let mut pair =
        pair(LinkProfile { reordering: 0.3, reorder_delay: 0.1, loss: 0.1, ..LinkProfile::AVERAGE });
    let mut last: Option<Tick> = None;
    for _ in 0..600 {
        pair.run_server_frame();
        let now = pair.server.tick();
        let received = pair.server.get::<SnapshotAcks>();
        assert!(received.tick.is_none_or(|tick| !tick.is_newer_than(now)));
        assert!(last.is_none_or(|last| received.tick.is_some_and(|tick| !last.is_newer_than(tick))));
        assert!(received.packets().iter().all(|packet| packet.arrived == now));
        last = received.tick;
    }
    assert!(last.is_some());
}

#[test]
fn client_without_a_snapshot_acknowledges_none() {
    let mut pair = Pair::new(3, LinkProfile::late(0.02));
    pair.play(|_| WalkerInput::EAST.with(WalkerInput::FIRE));
    pair.run(3.0);
    assert!(
        ack_excess(&pair).iter().all(Option::is_none) && pair.server.get::<SnapshotAcks>().tick.is_none()
    );
}
