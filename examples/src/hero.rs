//! Soldier of the shooter with two abilities: a dash and a teleport.

use bevy::prelude::*;
use bevy_unlag::{
    SoldierWith,
    movement::{
        AbilityEvent, AbilityPair, CapsuleWith, HasCapsule, KartState,
        abilities::{Dash, DashCue, DashInput, Teleport, TeleportCue, TeleportInput},
    },
    prelude::*,
    weapons::{Hazard, WeaponSystems},
};

/// Abilities of a [`Hero`].
pub type Abilities = (Dash, Teleport);
/// Body of a [`Hero`], without its weapons.
pub type HeroBody = CapsuleWith<Abilities>;
/// Soldier with abilities. Matches of measurements and tests are played with a [`Soldier`] instead.
pub type Hero = SoldierWith<Abilities>;
/// Predicted state of a [`Hero`].
pub type HeroState = <Hero as MoveModel>::State;
/// Filter of pawns that a player may control, once their state has arrived.
pub type AnyPlayer = Or<(With<SoldierState>, With<HeroState>, With<KartState>)>;

/// Use of an ability, once on every screen, at the moment at which it shows the hero.
pub type HeroCue = AbilityEvent<DashCue, TeleportCue>;

/// Height below which a hero dies, in metres: a teleport may lead out of the arena.
const VOID: f32 = -20.0;

/// Kills heroes that fall out of the arena, on a server.
pub fn void(app: &mut App) {
    app.add_systems(FixedLast, kill_fallen.before(WeaponSystems::ApplyDamage));
}

fn kill_fallen(heroes: Query<(Entity, &HeroState)>, mut hazards: MessageWriter<Hazard>) {
    for (target, state) in &heroes {
        if state.capsule().alive && state.capsule().position.y < VOID {
            hazards.write(Hazard { target, amount: f32::INFINITY, cause: 0 });
        }
    }
}

/// Sets the buttons of the abilities for the coming tick.
pub fn press(input: &mut MoveInput<Hero>, dash: bool, teleport: bool) {
    let (first, second) = (DashInput { pressed: dash }, TeleportInput { pressed: teleport });
    input.0.body.extension = AbilityPair { first, second };
}
