//! Nobody who plays is dropped or struck.

use bevy_unlag::prelude::*;
use lightyear::prelude::{PingConfig, PingManager};
use unlag_examples::stepped_match::MatchOptions;

use super::*;
use crate::{seconds, start};

/// Three players fight on a bad network, on which the server and one of them stand still for a while.
fn fight(conditions: LinkConditions) {
    let mut game = start(MatchOptions { players: 3, conditions, ..MatchOptions::default() });
    // lightyear asks once an hour here; a game may ask more often.
    for client in 0..3 {
        let link = link(&mut game.server, client).expect("joined");
        let often = PingManager::new(PingConfig { ping_interval: core::time::Duration::from_millis(50) });
        game.server.world_mut().entity_mut(link).insert(often);
    }
    game.fight(6.0);
    game.stall_server(seconds(2.0));
    game.run(seconds(4.0));
    game.stall_client(1, seconds(1.5));
    game.run(seconds(4.0));
    for client in 0..3 {
        let traffic = traffic(&mut game.server, client);
        assert_eq!(dropped(&traffic), [], "{conditions:?}");
        assert!(traffic.strikes == 0.0 && traffic.packets > 200 && traffic.messages > 200, "{traffic:?}");
        // What a budget must allow: several times less than it does.
        let seconds = 15.0;
        let (packets, bytes) = (traffic.packets as f64 / seconds, traffic.bytes as f64 / seconds);
        assert!(
            packets < 512.0 / 2.0 && bytes < 131_072.0 / 2.0,
            "{packets} packets, {bytes} bytes a second"
        );
    }
    assert_eq!(stats(&game.server).refused.total(), 0);
}

#[test]
fn on_300_ms_with_20_percent_loss() {
    fight(LinkConditions {
        latency: core::time::Duration::from_millis(150),
        jitter: core::time::Duration::from_millis(30),
        loss: 0.2,
        ..LinkConditions::PERFECT
    });
}

#[test]
fn on_the_worst_presets() {
    for name in ["Torture A", "GNS reorder", "GNS bad"] {
        fight(LinkPreset::named(name).expect("a preset of ours").conditions());
    }
}
