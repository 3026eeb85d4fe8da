//! Soldier of the shooter with two abilities: a dash and a teleport.

use bevy_unlag::{
    SoldierWith,
    movement::{
        AbilityPair, CapsuleWith,
        abilities::{Dash, DashInput, Teleport, TeleportInput},
    },
    prelude::*,
};

/// Abilities of a [`Hero`].
pub type Abilities = (Dash, Teleport);
/// Body of a [`Hero`], without its weapons.
pub type HeroBody = CapsuleWith<Abilities>;
/// Soldier with abilities. Matches of measurements and tests are played with a [`Soldier`] instead.
pub type Hero = SoldierWith<Abilities>;
/// Predicted state of a [`Hero`].
pub type HeroState = <Hero as MoveModel>::State;

/// Sets the buttons of the abilities for the coming tick.
pub fn press(input: &mut MoveInput<Hero>, dash: bool, teleport: bool) {
    let (first, second) = (DashInput { pressed: dash }, TeleportInput { pressed: teleport });
    input.0.body.extension = AbilityPair { first, second };
}
