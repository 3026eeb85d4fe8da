//! Game rules: health, death and respawn.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{
    Character, CharacterPawn,
    movement::HasCapsule,
    net::{MatchRestarted, SpectatorConfig},
    prelude::*,
    weapons::{Dead, HealthPlugin, Respawn, RespawnDue, WeaponSystems},
};
use lightyear::netcode::TokenUserData;

use crate::{arena, death_report, karts, kill_feed, maps, markers, spectating};

/// Time between a death and the end of the dead player's moves. Allows trades (mutual kills).
const TRADE_WINDOW: Duration = Duration::from_millis(500);

/// Registers the game's components and messages. Client and server both add it, after the suite's plugins.
pub fn protocol(app: &mut App) {
    app.add_plugins((markers::plugin, maps::protocol, death_report::protocol, kill_feed::protocol));
    karts::protocol(app);
}

/// Server-side rules: a soldier of the model `M` for each client that joins, damage, death and respawn.
pub fn plugin<M: Character<State: HasCapsule, Push = CapsulePush>>(app: &mut App) {
    app.init_resource::<NextPlayer>()
        .add_observer(spawn_player::<M>)
        .add_observer(reset_players::<M>)
        .add_plugins((HealthPlugin, death_report::server_plugin, kill_feed::server_plugin))
        .add_systems(
            FixedLast,
            (
                (apply_knockback::<M>, kill::<M>, disable_dead::<M>)
                    .chain()
                    .after(WeaponSystems::ApplyDamage)
                    .before(WeaponSystems::Respawn),
                respawn::<M>.after(WeaponSystems::Respawn),
            ),
        );
}

/// Counter of the players who have joined.
#[derive(Resource, Default)]
pub struct NextPlayer(u16);

impl NextPlayer {
    /// Returns the net id and the spawn point of the next player.
    pub fn allocate(&mut self) -> (NetId, Vec3) {
        let place = arena::SPAWNS[usize::from(self.0) % arena::SPAWNS.len()];
        // 0 means "nobody". After 65,535 players the ids wrap around; their first owners have long left.
        self.0 = self.0.checked_add(1).unwrap_or(1);
        (NetId(self.0), place)
    }
}

/// Returns a loadout with one of each weapon; the first one is held.
#[must_use]
pub fn full_loadout(arsenal: &Arsenal) -> Loadout {
    Loadout(arsenal.iter().map(|(id, _)| id).collect())
}

/// Spawns a soldier for a client that joins to play. A client whose pawn still waits for it gets that pawn instead.
fn spawn_player<M: Character>(
    joined: On<PlayerJoined>,
    mut next: ResMut<NextPlayer>,
    (arsenal, spectators): (Res<Arsenal>, Option<Res<SpectatorConfig>>),
    tokens: Query<&TokenUserData>,
    mut commands: Commands,
) {
    if spectating::take_place(&joined, &tokens, spectators.as_deref(), &mut commands) {
        return;
    }
    let (id, place) = next.allocate();
    commands
        .spawn((
            CharacterPawn::<M>::default(),
            id,
            Transform::from_translation(place),
            (Health::default(), PlayerScore::default()),
            player_pawn(joined.link, joined.peer),
        ))
        .insert(full_loadout(&arsenal));
}

/// Moves every player to a spawn point of its own, alive and with a reset score.
fn reset_players<M: Character<State: HasCapsule>>(
    _: On<MatchRestarted>,
    mut players: Query<(Entity, &mut M::State, &mut Loadout, &mut PlayerScore)>,
    mut respawns: MessageWriter<Respawn>,
) {
    for ((pawn, mut state, mut loadout, mut score), place) in
        players.iter_mut().zip(arena::SPAWNS.into_iter().cycle())
    {
        *score = PlayerScore::default();
        place_at(state.capsule_mut(), &mut loadout, place);
        respawns.write(Respawn { pawn });
    }
}

fn place_at(body: &mut CapsuleState, loadout: &mut Mut<Loadout>, place: Vec3) {
    body.alive = true;
    body.disabled = false;
    body.teleport_to(place);
    // Refills the magazines.
    loadout.set_changed();
}

/// Applies knockback as a scheduled push within the target's moves, which causes no correction.
fn apply_knockback<M: MoveModel<Push = CapsulePush>>(
    mut damage: MessageReader<Damage>,
    mut players: Query<&mut ScheduledPushes<M>>,
) {
    for hit in damage.read().filter(|hit| hit.throw != Vec3::ZERO) {
        if let Ok(mut pushes) = players.get_mut(hit.target) {
            pushes.push(CapsulePush::Launch(hit.throw));
        }
    }
}

fn kill<M: MoveModel<State: HasCapsule>>(mut died: MessageReader<Died>, mut players: Query<&mut M::State>) {
    for death in died.read() {
        if let Ok(mut state) = players.get_mut(death.victim) {
            // Moves in flight still run: the owner made them before it could know of its death.
            state.capsule_mut().alive = false;
        }
    }
}

/// Disables dead pawns once every move that their owners made in good faith has run.
fn disable_dead<M: MoveModel<State: HasCapsule>>(
    (tick, fixed): (Res<CurrentTick>, Res<Time<Fixed>>),
    mut dead: Query<(&Dead, &mut M::State)>,
) {
    for (dead, mut state) in &mut dead {
        let passed = fixed.timestep() * tick.0.since(dead.since).max(0).cast_unsigned();
        // A pawn that has just respawned keeps its `Dead` marker until the next tick.
        let CapsuleState { alive, disabled, .. } = *state.capsule();
        if passed >= TRADE_WINDOW && !alive && !disabled {
            state.capsule_mut().disabled = true;
        }
    }
}

fn respawn<M: MoveModel<State: HasCapsule>>(
    mut due: MessageReader<RespawnDue>,
    mut players: Query<(&mut M::State, &mut Loadout)>,
    mut respawns: MessageWriter<Respawn>,
) {
    for RespawnDue { pawn } in due.read() {
        // The spawn point farthest from all living players.
        let bodies = players.iter().map(|(state, _)| state.capsule());
        let taken: Vec<Vec3> = bodies.filter(|body| body.alive).map(|body| body.position).collect();
        let nearest = |place: Vec3| taken.iter().map(|t| t.distance_squared(place)).fold(f32::MAX, f32::min);
        let Some(place) = arena::SPAWNS.into_iter().max_by(|a, b| nearest(*a).total_cmp(&nearest(*b))) else {
            continue;
        };
        let Ok((mut state, mut loadout)) = players.get_mut(*pawn) else { continue };
        place_at(state.capsule_mut(), &mut loadout, place);
        respawns.write(Respawn { pawn: *pawn });
    }
}
