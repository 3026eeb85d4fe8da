//! Karts in the arena: a player enters the nearest free one and leaves it again, with one key.

use bevy::prelude::*;
use bevy_unlag::{
    Characters, NpcPawn,
    core::{Passenger, Wire},
    movement::{HasCapsule, KartModel, KartState},
    net::{MessageRules, MessageSource, Possess, Possessed},
    prelude::*,
};
use lightyear::prelude::ControlledBy;

use crate::hero::{Hero, HeroState};

/// Distance from which a player can enter a kart, in metres.
pub const REACH: f32 = 3.0;
/// Place of the driver's feet in the kart.
const SEAT: Vec3 = Vec3::new(0.0, 0.25, 0.25);
/// Places of the karts.
const PLACES: [Vec3; 2] = [Vec3::new(-6.0, 0.1, 9.0), Vec3::new(6.0, 0.1, -9.0)];

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
pub struct KartsPlugin;

impl Plugin for KartsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn_karts)
            .add_systems(Update, (enter_or_leave, leave_when_dead))
            .add_observer(take_seat);
    }
}

fn spawn_karts(mut commands: Commands) {
    for (place, id) in PLACES.into_iter().zip(60_000..) {
        let kart = (NpcPawn::<KartModel>::default(), NetId(id), Transform::from_translation(place));
        commands.spawn((kart, Name::new("Kart")));
    }
}

/// A hero whose player drives a kart.
type Drivers<'w, 's> = Query<'w, 's, (Entity, &'static mut HeroState, &'static Passenger)>;

fn enter_or_leave(
    mut requests: MessageReader<Received<UseVehicle>>,
    controlled: Query<(Entity, &ControlledBy)>,
    heroes: Query<&HeroState, Without<Passenger>>,
    karts: Query<(Entity, &KartState), Without<ControlledBy>>,
    mut drivers: Drivers,
    mut commands: Commands,
) {
    for request in requests.read() {
        let MessageSource::Client(link) = request.from else { continue };
        let Some((own, _)) = controlled.iter().find(|(_, by)| by.owner == link) else { continue };
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
fn leave_when_dead(
    mut drivers: Drivers,
    karts: Query<Option<&ControlledBy>, With<KartState>>,
    mut commands: Commands,
) {
    for (driver, mut state, seat) in &mut drivers {
        match karts.get(seat.vehicle) {
            Ok(Some(by)) if !state.capsule().alive => {
                leave(by.owner, driver, state.capsule_mut(), &mut commands);
            }
            Ok(Some(_)) => {}
            // The player has left the match, or the kart is gone.
            _ => drop(commands.entity(driver).remove::<Passenger>()),
        }
    }
}

fn leave(link: Entity, driver: Entity, body: &mut CapsuleState, commands: &mut Commands) {
    let side = body.rotation() * Vec3::X * 1.3;
    body.teleport_to(body.position + side + Vec3::Y * 0.1);
    commands.entity(driver).remove::<Passenger>();
    commands.trigger(Possess { link, pawn: Some(driver) });
}
