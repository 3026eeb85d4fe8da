//! Health, death and respawn: just enough of a game.

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use lightyear::prelude::{
    AppComponentExt, Connected, ControlledBy, Lifetime,
    server::{ClientOf, Server},
};
use serde::{Deserialize, Serialize};

use crate::arena;

/// Points of health, 0 to 100.
pub const FULL_HEALTH: f32 = 100.0;
/// Ticks from death until the dead can no longer move.
const TRADE_TICKS: i32 = 32;
/// Ticks from death to respawn.
const RESPAWN_TICKS: i32 = 64;

/// What everyone may know of a player.
#[derive(Component, Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Vitals {
    /// Points of health, 0 to 100.
    pub health: f32,
    /// How many it has killed.
    pub kills: u16,
    /// How often it has died.
    pub deaths: u16,
}

impl Default for Vitals {
    fn default() -> Self {
        Self { health: FULL_HEALTH, kills: 0, deaths: 0 }
    }
}

/// When a dead player appears again.
#[derive(Component, Clone, Copy, Debug)]
struct Dead {
    since: Tick,
}

/// Registers what the game replicates. Client and server both add it, after the suite.
pub struct RulesProtocolPlugin;

impl Plugin for RulesProtocolPlugin {
    fn build(&self, app: &mut App) {
        app.component::<Vitals>().replicate();
    }
}

/// The server's side of the rules: a soldier for everyone who joins; damage, death, respawn.
pub struct RulesPlugin;

impl Plugin for RulesPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<NextPlayer>()
            .add_observer(welcome)
            .add_systems(FixedLast, (take_damage, respawn).chain());
    }
}

/// Counts the players who have joined.
#[derive(Resource, Default)]
pub struct NextPlayer(u16);

impl NextPlayer {
    /// A name and a place for one more player.
    pub fn welcome(&mut self) -> (NetId, Vec3) {
        let place = arena::SPAWNS[usize::from(self.0) % arena::SPAWNS.len()];
        // 0 is nobody; after 65,535 players names begin anew, the first of them long gone.
        self.0 = self.0.checked_add(1).unwrap_or(1);
        (NetId(self.0), place)
    }
}

fn welcome(
    connected: On<Add, Connected>,
    clients: Query<(), With<ClientOf>>,
    servers: Query<(), With<Server>>,
    mut next: ResMut<NextPlayer>,
    mut commands: Commands,
) {
    if clients.contains(connected.entity) && !servers.is_empty() {
        let (id, place) = next.welcome();
        commands.spawn((
            spawn_soldier(id, place),
            Vitals::default(),
            ControlledBy { owner: connected.entity, lifetime: Lifetime::SessionBased },
        ));
    }
}

fn take_damage(
    mut damage: MessageReader<Damage>,
    tick: Res<CurrentTick>,
    mut players: Query<(&mut Vitals, &mut SoldierState)>,
    mut commands: Commands,
) {
    for hit in damage.read() {
        let Ok((mut vitals, mut state)) = players.get_mut(hit.target) else { continue };
        if !state.body.alive {
            continue;
        }
        vitals.health = (vitals.health - hit.amount).max(0.0);
        if vitals.health > 0.0 {
            continue;
        }
        vitals.deaths += 1;
        // Moves that are on their way still run: the owner made them before it could know.
        state.body.alive = false;
        commands.entity(hit.target).insert(Dead { since: tick.0 });
        if let Ok((mut killer, _)) = players.get_mut(hit.shooter) {
            killer.kills += 1;
        }
    }
}

fn respawn(
    tick: Res<CurrentTick>,
    mut players: Query<(Entity, Option<&Dead>, &mut Vitals, &mut SoldierState)>,
    mut commands: Commands,
) {
    let due = |dead: &Dead| tick.0.since(dead.since) >= RESPAWN_TICKS;
    let mut taken: Vec<Vec3> = players.iter().filter(|p| p.3.body.alive).map(|p| p.3.body.position).collect();
    for (entity, dead, mut vitals, mut state) in &mut players {
        let Some(dead) = dead else { continue };
        // By now every move that its owner made in good faith has been run.
        if tick.0.since(dead.since) >= TRADE_TICKS && !state.body.disabled {
            state.body.disabled = true;
        }
        if !due(dead) {
            continue;
        }
        // As far from everyone as there is.
        let nearest = |place: Vec3| taken.iter().map(|t| t.distance_squared(place)).fold(f32::MAX, f32::min);
        let Some(place) = arena::SPAWNS.into_iter().max_by(|a, b| nearest(*a).total_cmp(&nearest(*b))) else {
            continue;
        };
        taken.push(place);
        vitals.health = FULL_HEALTH;
        state.body.alive = true;
        state.body.disabled = false;
        state.body.teleport_to(place);
        commands.entity(entity).remove::<Dead>();
    }
}
