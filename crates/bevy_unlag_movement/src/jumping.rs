//! Jumping: variable height, multiple jumps, coyote time and jump buffer.

use crate::{
    base::BaseId,
    event::MoveEvent,
    step_state::{PawnStep, Physics},
};

/// Starts or continues a jump. `dt` is the duration of the whole step.
pub(crate) fn jump(pawn: &mut PawnStep<'_>, dt: f32) {
    let config = pawn.config;
    let pressed = pawn.input.jump && !pawn.state.jump_held;
    pawn.state.jump_held = pawn.raw_jump;
    pawn.gravity_suspended = 0.0;
    let early = pawn.state.jump_buffer > 0.0;
    pawn.state.jump_buffer =
        if pressed { config.jump_buffer } else { (pawn.state.jump_buffer - dt).max(0.0) };

    let custom = config.custom_mode(pawn.state.mode);
    // Custom modes such as a wall run or a ladder decide for themselves whether jumping is possible.
    // Plain flight does not allow it: the button moves up there.
    let grounded = custom.map_or(pawn.physics() == Physics::Walk, |custom| custom.can_jump);
    let may = custom.is_none_or(|custom| custom.can_jump);
    let airborne = pawn.physics() == Physics::Fall;
    let late = airborne && pawn.state.jumps == 0 && pawn.state.air_seconds <= config.coyote_time.max(0.0);
    // A pawn that fell off an edge has used up the jump from the floor.
    let used = if airborne && !late { pawn.state.jumps.max(1) } else { pawn.state.jumps };
    let from_floor = may && (grounded || late) && (pressed || early) && config.jump_max_count > 0;
    let again = may && !from_floor && airborne && pressed && used < config.jump_max_count;

    if (from_floor || again) && !pawn.state.crouched && !pawn.state.disabled {
        // The velocity is relative to the floor; that of a moving floor is added.
        pawn.velocity.y = if again { config.jump_speed } else { pawn.velocity.y.max(config.jump_speed) };
        if pawn.state.base != BaseId::NONE && config.impart_base_velocity {
            // The base's velocity is part of the jump; the base must not also carry the pawn.
            pawn.feet -= pawn.base_displacement;
        }
        pawn.leave_floor();
        pawn.state.jumps = if from_floor { 1 } else { used + 1 };
        pawn.state.jump_hold = config.jump_max_hold;
        pawn.state.jump_buffer = 0.0;
        pawn.events.push(MoveEvent::Jumped { count: pawn.state.jumps });
    }
    if !pawn.input.jump || pawn.physics() != Physics::Fall {
        pawn.state.jump_hold = 0.0;
    }
    if pawn.state.jump_hold > 0.0 {
        // While the button is held, gravity does not act.
        pawn.gravity_suspended = pawn.state.jump_hold.min(dt);
        pawn.state.jump_hold -= pawn.gravity_suspended;
    }
}
