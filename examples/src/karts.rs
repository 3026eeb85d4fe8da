//! Karts in the arena: a player enters the nearest free one and leaves it again, with one key.

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_unlag::{
    Characters, NpcPawn,
    core::{Passenger, ServerControl, Wire},
    movement::{HasCapsule, KartModel, KartState},
    net::{MessageRules, MessageSource, Possess, Possessed},
    prelude::*,
};
use lightyear::prelude::{ControlledBy, server::Server};

use crate::hero::{Hero, HeroState};

/// Distance from which a player can enter a kart, in metres.
pub const REACH: f32 = 3.0;
/// Place of the driver's feet in the kart.
pub const SEAT: Vec3 = Vec3::new(0.0, 0.25, 0.25);
/// Places of the karts.
pub const PLACES: [Vec3; 2] = [Vec3::new(-6.0, 0.1, 9.0), Vec3::new(6.0, 0.1, -9.0)];

/// Characters of the shooter: heroes and karts that people play, and the soldiers of measurements and tests. The
/// server decides which of them a player gets.
#[must_use]
pub fn characters() -> Characters {
    Characters::of::<Soldier>().with::<KartModel>().with::<Hero>()
}

/// Client to server: enter the nearest kart, or leave the own one.
#[derive(Clone, Copy, PartialEq, Debug, Wire)]
pub struct UseVehicle;

/// Registers the message. Client and server both add it.
pub(crate) fn protocol(app: &mut App) {
    app.add_game_message::<UseVehicle>(MessageRules::to_server().per_second(2.0));
}

/// Two karts, and the rules of entering and leaving, on a server whose players are [`Hero`]es.
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, spawn_karts)
        .add_systems(Update, (enter_or_leave, leave_when_dead))
        .add_observer(take_seat);
}

fn spawn_karts(mut commands: Commands) {
    for (place, id) in PLACES.into_iter().zip(60_000..) {
        let kart = (NpcPawn::<KartModel>::default(), NetId(id), Transform::from_translation(place));
        commands.spawn((kart, Name::new("Kart")));
    }
}

/// A hero whose player drives a kart.
type Drivers<'w, 's> = Query<'w, 's, (Entity, &'static mut HeroState, &'static Passenger)>;

/// The pawns that players control, by their links. The host of a listen server has none: it counts as the server.
#[derive(SystemParam)]
struct Players<'w, 's> {
    remote: Query<'w, 's, (Entity, &'static ControlledBy)>,
    host: Query<'w, 's, Entity, With<LocalControl>>,
    server: Query<'w, 's, Entity, With<Server>>,
}

impl Players<'_, '_> {
    /// Returns the link and the pawn of a sender.
    fn of(&self, from: MessageSource) -> Option<(Entity, Entity)> {
        match from {
            MessageSource::Client(link) => {
                Some((link, self.remote.iter().find(|(_, by)| by.owner == link)?.0))
            }
            MessageSource::Host => Some((self.server.iter().next()?, self.host.iter().next()?)),
            MessageSource::Server => None,
        }
    }

    /// Returns the link of the player who controls a pawn.
    fn link_of(&self, pawn: Entity) -> Option<Entity> {
        let remote = self.remote.get(pawn).ok().map(|(_, by)| by.owner);
        remote.or_else(|| self.server.iter().next().filter(|_| self.host.contains(pawn)))
    }
}

fn enter_or_leave(
    mut requests: MessageReader<Received<UseVehicle>>,
    players: Players,
    heroes: Query<&HeroState, Without<Passenger>>,
    karts: Query<(Entity, &KartState), With<ServerControl>>,
    mut drivers: Drivers,
    mut commands: Commands,
) {
    for request in requests.read() {
        let Some((link, own)) = players.of(request.from) else { continue };
        if let Ok(hero) = heroes.get(own) {
            let from = Hero::position(hero);
            let distance = |kart: &KartState| KartModel::position(kart).distance(from);
            let near = karts.iter().filter(|(_, kart)| distance(kart) < REACH);
            let kart = near.min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
            if let Some((kart, _)) = kart.filter(|_| hero.capsule().alive) {
                commands.trigger(Possess { link, pawn: Some(kart) });
            }
        } else if let Some((driver, mut state, _)) = drivers.iter_mut().find(|(.., seat)| seat.vehicle == own)
        {
            leave(link, driver, state.capsule_mut(), &mut commands);
        }
    }
}

/// Sits the hero into the kart that its player controls now.
fn take_seat(done: On<Possessed>, karts: Query<(), With<KartState>>, mut commands: Commands) {
    if let (Some(vehicle), Some(hero)) = (done.pawn.filter(|pawn| karts.contains(*pawn)), done.previous) {
        commands.entity(hero).insert(Passenger { vehicle, seat: SEAT });
    }
}

/// A dead driver leaves the kart.
fn leave_when_dead(mut drivers: Drivers, players: Players, mut commands: Commands) {
    for (driver, mut state, seat) in &mut drivers {
        match players.link_of(seat.vehicle) {
            Some(link) if !state.capsule().alive => {
                leave(link, driver, state.capsule_mut(), &mut commands);
            }
            Some(_) => {}
            // The player has left the match, or the kart is gone.
            None => drop(commands.entity(driver).remove::<Passenger>()),
        }
    }
}

fn leave(link: Entity, driver: Entity, body: &mut CapsuleState, commands: &mut Commands) {
    let side = body.rotation() * Vec3::X * 1.3;
    body.teleport_to(body.position + side + Vec3::Y * 0.1);
    commands.entity(driver).remove::<Passenger>();
    commands.trigger(Possess { link, pawn: Some(driver) });
}
