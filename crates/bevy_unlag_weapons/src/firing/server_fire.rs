//! Firing of pawns that the server controls: they see the present.

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, ExtendedState, MoveInput, MoveModel, PoseSampler, ServerControl};

use super::{WeaponControls, is_alive, tick_seconds};
use crate::{
    aim::Aim,
    arsenal::Arsenal,
    fire_input::{FireInput, ShooterView},
    spread,
    weapon::SpreadSource,
    weapon_extension::{WeaponState, WithWeapons},
};

/// Adds the weapon input of pawns that the server controls. A shot starts at the eye, along the aim.
pub(crate) fn add_server_weapon_input<M: MoveModel>(
    mut pawns: Query<
        (&mut WeaponControls, &Aim, &ExtendedState<M::State, WeaponState>, &mut MoveInput<WithWeapons<M>>),
        With<ServerControl>,
    >,
    model: Res<M::Config>,
    (arsenal, sampler, tick): (Res<Arsenal>, Res<PoseSampler>, Res<CurrentTick>),
) {
    for (mut trigger, aim, state, mut input) in &mut pawns {
        let (weapons, alive) = (&state.extension, is_alive::<M>(state));
        input.0.extension = trigger.input(weapons, alive);
        trigger.end_frame();
        let seconds = tick_seconds::<M>(state, &sampler);
        if !alive || !trigger.wants_shot(weapons, &input.0.extension, &arsenal, seconds) {
            continue;
        }
        trigger.pulled = false;
        let eye = FireInput::rounded(M::eye(&model, &state.body));
        let (yaw, pitch) = M::look(&input.0.body);
        let mut fire =
            FireInput::new(&ShooterView::new(None, eye), tick.0).with_aim(*aim, Aim { yaw, pitch });
        if let Some((_, weapon)) = weapons.weapon(&arsenal)
            && weapon.spread.source == SpreadSource::Client
        {
            // Such a weapon trusts its shooter.
            fire.set_pellets(spread::pellet_offsets(weapon, tick.0.0 as u16));
        }
        input.0.extension.fire = Some(fire);
    }
}
