//! Loss, duplication, delay and reordering on links and in mailboxes: every shot counts exactly once, and
//! client and server agree on the ammunition.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag::{
    prediction::{IncomingMoveAcks, IncomingMoves},
    prelude::*,
};
use rand::{Rng, SeedableRng, rngs::SmallRng};
use unlag_examples::{
    app::ServerOptions,
    stepped_match::{HARD_LINK, MatchOptions},
    weapon_set::WeaponSet,
};

use super::{ClientShotLog, ServerShotLog, add_periodic_reloads, record_shots};
use crate::{hold_still, own_id, seconds, start, state};

/// Mailbox impairment: 25 % of the packets are duplicated, 25 % are up to eight frames late, and the packets
/// of a frame are delivered in reverse order.
#[derive(Resource)]
struct MailboxImpairment {
    rng: SmallRng,
    frame: u32,
    held: VecDeque<(u32, Entity, Vec<u8>)>,
    /// Numbers of duplicated and of delayed packets.
    duplicated: u64,
    delayed: u64,
}

impl MailboxImpairment {
    fn new(seed: u64) -> Self {
        Self {
            rng: SmallRng::seed_from_u64(seed),
            frame: 0,
            held: VecDeque::new(),
            duplicated: 0,
            delayed: 0,
        }
    }

    /// Returns the packets for a pawn that are delivered in this frame.
    fn deliver(&mut self, pawn: Entity, came: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let mut now = Vec::new();
        for bytes in came {
            if self.rng.random_bool(0.25) {
                self.duplicated += 1;
                let late = self.rng.random_range(0..40);
                self.held.push_back((self.frame + late, pawn, bytes.clone()));
                now.push(bytes.clone());
            }
            if self.rng.random_bool(0.25) {
                self.delayed += 1;
                let late = self.rng.random_range(1..=8);
                self.held.push_back((self.frame + late, pawn, bytes));
            } else {
                now.push(bytes);
            }
        }
        let frame = self.frame;
        self.held.retain(|(due, whose, bytes)| {
            let comes = *whose == pawn && *due <= frame;
            if comes {
                now.push(bytes.clone());
            }
            !comes
        });
        now.reverse();
        now
    }
}

fn impair_moves(mut clumsy: ResMut<MailboxImpairment>, mut pawns: Query<(Entity, &mut IncomingMoves)>) {
    clumsy.frame += 1;
    for (pawn, mut mailbox) in &mut pawns {
        let came = mailbox.drain().collect();
        clumsy.deliver(pawn, came).into_iter().for_each(|bytes| mailbox.deliver(bytes));
    }
}

fn impair_acks(mut clumsy: ResMut<MailboxImpairment>, mut pawns: Query<(Entity, &mut IncomingMoveAcks)>) {
    clumsy.frame += 1;
    for (pawn, mut mailbox) in &mut pawns {
        let came = mailbox.drain().collect();
        clumsy.deliver(pawn, came).into_iter().for_each(|bytes| mailbox.deliver(bytes));
    }
}

/// Gives each pawn ammunition for one of the weapons every 150 ticks.
fn grant_ammo(
    tick: Res<CurrentTick>,
    arsenal: Res<Arsenal>,
    mut pawns: Query<(&NetId, &mut SoldierState)>,
    mut found: Local<u32>,
) {
    for (id, mut state) in &mut pawns {
        if (tick.0.0 + u32::from(id.0) * 37).is_multiple_of(150) {
            *found += 1;
            let weapon = WeaponId((*found % 3) as u8);
            state.extension.add_ammo(&arsenal, weapon, 7);
        }
    }
}

#[test]
#[ignore = "long: `unlag_lab weapons` has the same figures"]
fn every_shot_counts_once_and_ammunition_agrees_on_impaired_links_and_mailboxes() {
    let server = ServerOptions { weapon_set: WeaponSet::All, ..ServerOptions::default() };
    let options =
        MatchOptions { players: 6, conditions: HARD_LINK, seed: 21, server, ..MatchOptions::default() };
    let mut game = start(options);
    record_shots(&mut game);
    let before = RunFixedMainLoopSystems::BeforeFixedMainLoop;
    game.server
        .insert_resource(MailboxImpairment::new(5))
        .add_systems(RunFixedMainLoop, impair_moves.in_set(before));
    game.server.add_systems(FixedFirst, grant_ammo);
    for (seed, client) in (60..).zip(&mut game.clients) {
        client
            .insert_resource(MailboxImpairment::new(seed))
            .add_systems(RunFixedMainLoop, impair_acks.in_set(before));
        add_periodic_reloads(client);
    }
    game.fight(100.0);
    for client in &mut game.clients {
        hold_still(client);
    }
    game.run(seconds(7.0));

    let clumsy = game.server.world().resource::<MailboxImpairment>();
    assert!(
        clumsy.duplicated > 5_000 && clumsy.delayed > 5_000,
        "{} duplicated, {} delayed",
        clumsy.duplicated,
        clumsy.delayed
    );
    let noted = game.server.world().resource::<ServerShotLog>();
    let rounds = noted.left.len();
    assert!(rounds > 2_000, "{rounds} shots are too few");
    assert_eq!(noted.counted_twice(), [], "shots were counted twice");
    let refused: Vec<_> = noted.refused().map(|((id, shot), why, _)| (id, shot, why)).collect();
    let (mut shown, mut never_left, mut told_twice) = (0, Vec::new(), 0);
    for i in 0..game.clients.len() {
        let id = own_id(&mut game.clients[i]);
        let (here, there) = (state(&mut game.clients[i], id), state(&mut game.server, id));
        assert_eq!(here.extension.slots, there.extension.slots, "{id:?}: the ammunition differs at rest");
        let counts =
            |state: &SoldierState| (state.extension.shots, state.extension.slot, state.extension.seed);
        assert_eq!(counts(&here), counts(&there), "{id:?}");
        let seen = game.clients[i].world().resource::<ClientShotLog>();
        let noted = game.server.world().resource::<ServerShotLog>();
        shown += seen.fired.len();
        told_twice += seen.verdicts.values().filter(|all| all.len() > 1).count();
        for shot in seen.fired.keys() {
            let left = noted.left.contains_key(&(id.0, *shot));
            let answered = noted.verdicts.contains_key(&(id.0, *shot));
            let heard = seen.verdicts.contains_key(shot);
            assert_eq!(answered, heard, "{id:?} {shot}: the server's verdict must arrive");
            if !heard {
                never_left.push((id, *shot, left));
            }
        }
        let unseen = noted.left.keys().filter(|(who, shot)| *who == id.0 && !seen.fired.contains_key(shot));
        assert_eq!(unseen.count(), 0, "{id:?}: the client did not display a shot that left");
    }
    println!("{rounds} shots left, {shown} shown, refused {refused:?}, without verdict {never_left:?}");
    assert_eq!(told_twice, 0, "verdicts arrived twice");
    assert!(never_left.iter().all(|(_, _, left)| !left), "shots left without a verdict: {never_left:?}");
    // A shot does not leave if no copy of its move arrives within 250 ms, which is rare at 25 % loss each
    // way.
    assert!(never_left.len() * 500 <= shown, "{} of {shown} shots have no verdict", never_left.len());
    assert!(refused.len() * 500 <= rounds, "{refused:?} of {rounds}");
}
