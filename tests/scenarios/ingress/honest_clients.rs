//! Honest clients have no dropped packets and no strikes.

use bevy_unlag::link_conditioner::{LinkConditions, LinkPreset};
use lightyear::prelude::{PingConfig, PingManager};
use unlag_examples::stepped_match::MatchOptions;

use super::*;
use crate::{seconds, start};

/// Runs a fight of three players with a server stall and a client stall, and asserts that no packet is
/// refused and no client has strikes.
fn assert_fight_is_unfiltered(conditions: LinkConditions) {
    let mut game = start(MatchOptions { players: 3, conditions, ..MatchOptions::default() });
    // lightyear pings once an hour here; a game may ping more often.
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
        // The usage must stay below half of the budgets.
        let seconds = 15.0;
        let (packets, bytes) = (traffic.packets as f64 / seconds, traffic.bytes as f64 / seconds);
        assert!(packets < 512.0 / 2.0 && bytes < 131_072.0 / 2.0, "{packets} packets/s, {bytes} bytes/s");
    }
    assert_eq!(stats(&game.server).refused.total(), 0);
}

#[test]
fn honest_fight_at_300_ms_with_20_percent_loss_is_never_filtered() {
    assert_fight_is_unfiltered(LinkConditions {
        latency: core::time::Duration::from_millis(150),
        jitter: core::time::Duration::from_millis(30),
        loss: 0.2,
        ..LinkConditions::PERFECT
    });
}

#[test]
fn honest_fight_on_the_worst_presets_is_never_filtered() {
    for name in ["Torture A", "GNS reorder", "GNS bad"] {
        assert_fight_is_unfiltered(LinkPreset::named(name).expect("a built-in preset").conditions());
    }
}
