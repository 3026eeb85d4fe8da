//! Links that end at random moments: during a shot, a correction, or a despawn (row F24).

use bevy_unlag::{
    guard::Kick,
    net::{SessionConfig, SessionOf},
};
use lightyear::prelude::{PeerId, RemoteId, server::ClientOf};
use rand::{Rng, SeedableRng, rngs::SmallRng};
use unlag_examples::{app::ServerOptions, scripted_player::ScriptedPlayer, weapon_set::WeaponSet};

use super::*;

const PLAYERS: usize = 6;
/// Manner in which a link ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Disconnect,
    PoweredOff,
    Kicked,
    /// The server's own code despawns the link without a disconnect message.
    Despawned,
}

struct Churn {
    game: Match,
    dice: SmallRng,
    seed: u64,
    /// Time of each player's last leave or attempt to reconnect, in seconds.
    since: [f64; PLAYERS],
    now: f64,
}

impl Churn {
    fn link(&mut self, player: usize) -> Option<Entity> {
        let world = self.game.server.world_mut();
        let mut links = world.query_filtered::<(Entity, &RemoteId), With<ClientOf>>();
        let peer = PeerId::Netcode(player as u64 + 1);
        links.iter(world).find(|(_, id)| id.0 == peer).map(|(link, _)| link)
    }

    fn end(&mut self, player: usize) -> End {
        let end =
            [End::Disconnect, End::PoweredOff, End::Kicked, End::Despawned][self.dice.random_range(0..4)];
        let link = self.link(player);
        match (end, link) {
            (End::Kicked, Some(entity)) => {
                self.game.server.world_mut().trigger(Kick { entity, reason: KickReason::Game(0) });
            }
            (End::Despawned, Some(link)) => {
                self.game.server.world_mut().despawn(link);
            }
            (End::PoweredOff, _) => self.game.power_off(player),
            _ => self.game.disconnect(player),
        }
        self.since[player] = self.now;
        end
    }

    /// Reconnects a player. It may need several calls: after an end without a disconnect netcode keeps the
    /// client id until its timeout, and a connection request gives up after the same time.
    fn rejoin(&mut self, player: usize) {
        self.game.rejoin(player).expect("a token");
        self.game.clients[player].world_mut().resource_mut::<ScriptedPlayer>().may_fire = true;
        self.since[player] = self.now + 1.5;
    }

    fn run(&mut self, time: f64) {
        self.game.run(seconds(time));
        self.now += time;
    }

    /// Asserts that no player has two pawns, and that every pawn has a player.
    fn assert_one_pawn_per_player(&mut self) {
        let seed = self.seed;
        let world = self.game.server.world_mut();
        let mut peers: Vec<_> = world.query::<&SessionOf>().iter(world).map(|of| of.0.to_bits()).collect();
        let all = peers.len();
        peers.sort_unstable();
        peers.dedup();
        assert_eq!(peers.len(), all, "seed {seed}: a player has two pawns");
        let named = world.query::<&NetId>().iter(world).count();
        assert_eq!(named, all, "seed {seed}: a pawn without a player");
    }
}

fn assert_no_leaks_under_churn(seed: u64, points: usize) {
    let server = ServerOptions { weapon_set: WeaponSet::All, ..ServerOptions::default() };
    let conditions = LinkConditions { loss: 0.05, ..average() };
    let players = PLAYERS as u64;
    let options = MatchOptions { players, conditions, seed, server, ..MatchOptions::default() };
    let mut game = start_recorded(options);
    // Some players return within the grace time and some do not.
    game.server.world_mut().resource_mut::<SessionConfig>().grace = seconds(1.5);
    game.set_firing(true);
    let dice = SmallRng::seed_from_u64(seed);
    let mut churn = Churn { game, dice, seed, since: [0.0; PLAYERS], now: 0.0 };
    let mut ended = [0; 4];
    while ended.iter().sum::<usize>() < points {
        let pause = churn.dice.random_range(0.01..0.35);
        churn.run(pause);
        let player = churn.dice.random_range(0..PLAYERS);
        if churn.game.is_playing(player) {
            ended[churn.end(player) as usize] += 1;
        } else if churn.now > churn.since[player] + churn.dice.random_range(0.0..3.0) {
            churn.rejoin(player);
        }
        churn.assert_one_pawn_per_player();
    }
    let log = session_log(&churn.game.server);
    println!(
        "seed {seed}: {ended:?} links ended; {} joined, {} returned, {} left, {} expired; {} hits in {:.0} s",
        log.joined.len(),
        log.returned.len(),
        log.left.len(),
        log.expired.len(),
        log.damage,
        churn.now
    );
    assert!(log.returned.len() > points / 20 && log.expired.len() > points / 20, "seed {seed}: {log:?}");
    // All players reconnect.
    for _ in 0..4 {
        for player in 0..PLAYERS {
            if !churn.game.is_playing(player) {
                churn.rejoin(player);
            }
        }
        churn.run(2.5);
    }
    churn.assert_one_pawn_per_player();
    for player in 0..PLAYERS {
        assert!(churn.game.is_playing(player), "seed {seed}: player {player} is not back");
    }
    assert_eq!(pawns(&mut churn.game.server).len(), PLAYERS, "seed {seed}");
    // All players leave.
    (0..PLAYERS).for_each(|player| churn.game.disconnect(player));
    churn.run(4.0);
    let seed = churn.seed;
    assert_eq!(pawns(&mut churn.game.server).len(), 0, "seed {seed}: a pawn was left behind");
    let world = churn.game.server.world_mut();
    assert_eq!(
        world.query_filtered::<(), With<ClientOf>>().iter(world).count(),
        0,
        "seed {seed}: a link was left behind"
    );
}

// Row F24.
#[test]
fn server_leaks_no_pawn_or_link_when_25_links_end_at_random_moments() {
    assert_no_leaks_under_churn(24, 25);
}

#[test]
#[ignore = "long: 500 links"]
fn server_leaks_no_pawn_or_link_when_500_links_end_at_random_moments() {
    assert_no_leaks_under_churn(24, 500);
}
