//! Snapshot acknowledgements in move packets.

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, Heard, HeardTick, MoveSystems, Tick};

use crate::common::*;

/// Ticks by which the received snapshots are behind the client's own tick.
const BEHIND: i32 = 5;

/// Returns a pair whose client receives a snapshot every tick and fires in every seventh move.
fn pair(weather: Weather) -> Pair {
    let mut pair = Pair::new(3, weather);
    let hear = |tick: Res<CurrentTick>, mut heard: ResMut<HeardTick>| heard.arrived(tick.0.offset(-BEHIND));
    pair.client.app.add_systems(FixedUpdate, hear.before(MoveSystems::Step));
    pair.play(|tick| if tick % 7 == 0 { Wish::EAST.with(Wish::FIRE) } else { Wish::EAST });
    pair
}

/// Returns for each event by how many ticks the server's value exceeds what the client had received at the
/// move; `None` if the server has no value.
fn too_much(pair: &Pair) -> Vec<Option<i32>> {
    let events = pair.server.res::<Seen<Walker>>().events.iter();
    events.map(|event| Some(event.heard?.since(event.tick.offset(-BEHIND)))).collect()
}

#[test]
fn move_has_the_snapshot_ack_of_its_own_packet() {
    let mut pair = pair(Weather { jitter: 0.03, ordered: true, ..Weather::late(0.08) });
    pair.run(10.0);
    let too_much = too_much(&pair);
    // Moves wait in the queue while newer packets arrive, which must not change their value.
    assert!(too_much.len() > 80 && too_much.iter().all(|more| *more == Some(0)), "{too_much:?}");
    let waited = pair.server.res::<Seen<Walker>>().events.iter().map(|event| event.waited).max();
    assert!(waited.is_some_and(|waited| waited > 1), "{waited:?}");
}

#[test]
fn lost_packet_raises_the_snapshot_ack_of_a_move_by_less_than_16_ticks() {
    let mut pair = pair(Weather { loss: 0.2, ..Weather::AVERAGE });
    pair.run(20.0);
    let too_much = too_much(&pair);
    assert!(
        too_much.len() > 150 && too_much.iter().all(|more| more.is_some_and(|more| (0..16).contains(&more)))
    );
    assert!(too_much.iter().filter(|more| **more > Some(0)).count() > 20, "{too_much:?}");
}

#[test]
fn acknowledged_snapshot_never_decreases_nor_exceeds_the_server_tick() {
    let mut pair = pair(Weather { disorder: 0.3, disorder_by: 0.1, loss: 0.1, ..Weather::AVERAGE });
    let mut last: Option<Tick> = None;
    for _ in 0..600 {
        pair.run_server_frame();
        let now = pair.server.tick();
        let heard = pair.server.get::<Heard>();
        assert!(heard.tick.is_none_or(|tick| !tick.is_newer_than(now)));
        assert!(last.is_none_or(|last| heard.tick.is_some_and(|tick| !last.is_newer_than(tick))));
        assert!(heard.packets().iter().all(|packet| packet.arrived == now));
        last = heard.tick;
    }
    assert!(last.is_some());
}

#[test]
fn client_without_a_snapshot_acknowledges_none() {
    let mut pair = Pair::new(3, Weather::late(0.02));
    pair.play(|_| Wish::EAST.with(Wish::FIRE));
    pair.run(3.0);
    assert!(too_much(&pair).iter().all(Option::is_none) && pair.server.get::<Heard>().tick.is_none());
}
