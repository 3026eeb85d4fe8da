//! Characters with weapons.

use bevy::prelude::*;
use bevy_unlag_core::{ExtendedState, PawnClass};
use bevy_unlag_lightyear::ArmedPawnStatesPlugin;
use bevy_unlag_movement::CapsuleInput;
use bevy_unlag_weapons::{
    HighPingPlugin, Loadout, WeaponControls, WeaponExtension, WeaponsPlugin, WithWeapons,
};

use super::{Character, Side};

impl<B: Character> Character for WithWeapons<B> {
    fn state_at(position: Vec3) -> Self::State {
        ExtendedState::new(B::state_at(position))
    }

    fn equipment() -> impl Bundle {
        (B::equipment(), Loadout::default())
    }

    fn body(config: &Self::Config, class: PawnClass) -> impl Bundle {
        B::body(config, class)
    }

    fn set_class(state: &mut Self::State, class: PawnClass) {
        B::set_class(&mut state.body, class);
    }

    fn has_class(config: &Self::Config, class: PawnClass) -> bool {
        B::has_class(config, class)
    }

    fn controls() -> impl Bundle {
        (B::controls(), WeaponControls::default())
    }

    fn apply_controls(input: &mut Self::Input, controls: &CapsuleInput) {
        B::apply_controls(&mut input.body, controls);
    }

    fn is_idle(input: &Self::Input) -> bool {
        B::is_idle(&input.body)
    }

    fn build(app: &mut App, side: Side) {
        B::build_extended::<WeaponExtension>(app, side);
        app.add_plugins(WeaponsPlugin::<B>::default());
        // Once, however many characters carry weapons.
        bevy_unlag_core::require_plugin(app, ArmedPawnStatesPlugin);
        if side == Side::Client && !app.is_plugin_added::<HighPingPlugin>() {
            app.add_plugins(HighPingPlugin);
        }
    }
}
