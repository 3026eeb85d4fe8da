//! Additional stress: duplicated messages in the inboxes, and ammunition changes.

use bevy::ecs::entity::EntityHashMap;

use crate::prelude::*;

/// Probability per tick that a player finds ammunition.
const GIVEN: f64 = 0.005;
/// Probability that a packet or acknowledgement is delivered a second time.
const DUPLICATION: f64 = 0.25;

/// Stress generator of one app.
#[derive(Resource)]
pub struct StressInput {
    rng: SmallRng,
    /// Whether the match is in its fighting phase.
    pub on: bool,
    /// Messages to be repeated some ticks later.
    old: EntityHashMap<Vec<Vec<u8>>>,
    /// Number of times the server added ammunition.
    pub given: u64,
}

impl StressInput {
    pub fn new(seed: u64) -> Self {
        Self { rng: SmallRng::seed_from_u64(seed), on: true, old: EntityHashMap::default(), given: 0 }
    }

    /// Duplicates some messages, immediately or some ticks later.
    fn double(&mut self, pawn: Entity, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let old = self.old.entry(pawn).or_default();
        let mut all = Vec::new();
        for message in messages {
            if self.rng.random_bool(DUPLICATION) {
                all.push(message.clone());
            }
            if self.rng.random_bool(DUPLICATION / 4.0) {
                old.push(message.clone());
            }
            all.push(message);
        }
        if !old.is_empty() && self.rng.random_bool(0.1) {
            all.push(old.swap_remove(0));
        }
        all
    }
}

pub fn duplicate_moves(mut trick: ResMut<StressInput>, mut pawns: Query<(Entity, &mut IncomingMoves)>) {
    for (pawn, mut mailbox) in &mut pawns {
        let messages = mailbox.drain().collect();
        trick.double(pawn, messages).into_iter().for_each(|message| mailbox.deliver(message));
    }
}

pub fn duplicate_acks(mut trick: ResMut<StressInput>, mut pawns: Query<(Entity, &mut IncomingMoveAcks)>) {
    for (pawn, mut mailbox) in &mut pawns {
        let messages = mailbox.drain().collect();
        trick.double(pawn, messages).into_iter().for_each(|message| mailbox.deliver(message));
    }
}

/// Adds ammunition at random times.
pub fn refill(arsenal: Res<Arsenal>, mut trick: ResMut<StressInput>, mut pawns: Query<&mut SoldierState>) {
    for mut state in &mut pawns {
        if !trick.on || !state.body.alive || !trick.rng.random_bool(GIVEN) {
            continue;
        }
        let mut filled = state.extension;
        let given: u16 = (0..3).map(|weapon| filled.add_ammo(&arsenal, WeaponId(weapon), 10)).sum();
        if given > 0 {
            state.extension = filled;
            trick.given += 1;
        }
    }
}

/// Requests a reload of empty magazines, and at times of others.
pub fn reload(
    mut trick: ResMut<StressInput>,
    mut own: Query<(&SoldierState, &mut WeaponControls), With<LocalControl>>,
) {
    for (state, mut trigger) in &mut own {
        let empty = state.extension.held_slot().magazine == 0 && !state.extension.is_reloading();
        if trick.on && trick.rng.random_bool(if empty { 0.3 } else { 0.004 }) {
            trigger.reload = true;
        }
    }
}
