"""Mutations that once survived every test: file in crates, expression or statement, its mutation, and the tests that
must fail, each as package, target and filter.
"""

ACCUMULATOR = ("bevy_unlag_movement/src/input_accumulator.rs", "self.axes += axes;", "self.axes = axes;")
TELEPORT = (
    "bevy_unlag_core/src/snapshot.rs",
    "self.teleports & 3 == next.teleports & 3 && self.alive == next.alive",
    "self.alive == next.alive",
)
HIGH_PING = (
    "bevy_unlag_weapons/src/high_ping.rs",
    "(was_shown && !self.is_shown()).then_some(Change::Hidden)",
    "None",
)
JUMPS = "bevy_unlag_smoothing/src/jump_blending.rs"

STATED = [
    (
        "bevy_unlag_movement/src/input.rs",
        "axis.clamp(-1.0, 1.0)",
        "axis.clamp(-9.0, 9.0)",
        "bevy_unlag_movement mover axes_beyond_one_equal_full_deflection",
    ),
    (*ACCUMULATOR, "bevy_unlag_movement bevy_unlag_movement sources_of_one_frame_add_up_and_are_released_in_the_next"),
    (*ACCUMULATOR, "bevy_unlag controls keys_mouse_and_sticks_of_a_frame_add_up_and_are_clamped_once"),
    (*ACCUMULATOR, "tests scenarios key_stick_and_script_of_a_frame_add_up_in_the_pawn_of_the_server"),
    (
        "bevy_unlag_movement/src/move_model.rs",
        "!is_clear(mask, frame, body, (state.position, by), ctx, world)",
        "false",
        "bevy_unlag_movement mover capsule_is_not_nudged_into_or_through_a_wall_or_the_floor",
    ),
    (
        "bevy_unlag_prediction/src/server.rs",
        "error <= config.accept_client_position && !correcting",
        "error <= config.accept_client_position",
        "bevy_unlag_prediction integration small_push_by_the_server_is_not_undone_by_accepting_the_clients_position",
    ),
    (
        "bevy_unlag_movement/src/input.rs",
        "(old == Vec3::ZERO || old.normalize_or_zero().dot(new.normalize_or_zero()) >= 0.996)",
        "true",
        "bevy_unlag_movement mover directions_within_5_degrees_combine_and_others_do_not",
    ),
    (
        JUMPS,
        "was_predicted || next.offset.length() <= allowed",
        "true",
        "bevy_unlag_smoothing integration jump_up_to_the_snap_distance_is_blended_and_a_larger_one_snaps",
    ),
    (
        JUMPS,
        "config.exponential_max_distance",
        "f32::MAX",
        "bevy_unlag_smoothing integration exponential_visuals_lag_by_at_most_the_maximum_distance",
    ),
    (
        JUMPS,
        "config.exponential_seconds",
        "0.1",
        "bevy_unlag_smoothing integration exponential_visuals_keep_37_percent_of_a_jump_after_their_time",
    ),
    (
        JUMPS,
        "config.bridge_seconds",
        "0.045",
        "bevy_unlag_smoothing integration simulated_pawn_is_back_on_its_path_after_the_bridge_time",
    ),
    (
        "bevy_unlag_weapons/src/firing/view_capture.rs",
        "self.rules.friendly_fire",
        "Default::default()",
        "bevy_unlag_weapons integration teammates_are_damaged_only_with_friendly_fire_whatever_the_weapon",
    ),
    (
        "bevy_unlag_weapons/src/projectile/client/flight.rs",
        "self.rules.friendly_fire",
        "Default::default()",
        "bevy_unlag_weapons integration projectiles::teams",
    ),
    (
        "bevy_unlag_weapons/src/weapon/damage.rs",
        "damage * self.falloff.at(distance)",
        "damage",
        "bevy_unlag_weapons integration falloff",
    ),
    (
        "bevy_unlag_smoothing/src/proxy_simulation.rs",
        "time.ticks_since(from).min(sampler.max_simulation_ticks())",
        "time.ticks_since(from)",
        "bevy_unlag_smoothing integration simulated_proxy_stops_after_the_maximum_time_without_updates",
    ),
    (
        "bevy_unlag_movement/src/move_model.rs",
        "extrapolate(config, class, pose, ctx, world)",
        "PoseSample { position: pose.position + pose.velocity * ctx.dt, ..*pose }",
        "bevy_unlag_movement mover simulated_capsule",
    ),
    (
        "bevy_unlag_rewind/src/frame.rs",
        "self.ring.get(1)",
        "self.ring.front()",
        "bevy_unlag_rewind integration frames_reach_back_to_the_maximum_age_and_one_further",
    ),
    (
        "bevy_unlag/src/character/body.rs",
        "pawn.insert(listed);",
        "",
        "tests scenarios hit_boxes_of_a_class_follow_a_respawn_in_another_class_on_every_machine",
    ),
    (
        "bevy_unlag/src/character/body.rs",
        "pawn.get::<HitBoxes>().is_some_and(|boxes| !is_ours(boxes))",
        "false",
        "tests scenarios hit_boxes_that_a_game_has_inserted_survive_a_respawn_in_another_class",
    ),
    (
        "bevy_unlag_lightyear/src/session.rs",
        "missing_hello::client_plugin(app);",
        "",
        "tests scenarios registration_before_the_suite_on_one_side_only_is_explained_in_one_sentence",
    ),
    (
        "bevy_unlag_rewind/src/view.rs",
        "(self.exclude_team.is_none() || self.exclude_team != team)",
        "true",
        "bevy_unlag_rewind integration excluded_team_is_not_hit_and_others_are",
    ),
    (*TELEPORT, "bevy_unlag_core bevy_unlag_core pose_is_never_interpolated_across_a_teleport"),
    (
        *TELEPORT,
        "bevy_unlag_smoothing integration "
        "teleport_is_drawn_as_a_jump_in_every_mode_and_an_uncounted_one_is_interpolated",
    ),
    (
        "bevy_unlag_core/src/interpolate.rs",
        "other_velocity.length_squared() > REST * REST",
        "true",
        "bevy_unlag_core bevy_unlag_core cubic_does_not_overshoot_a_stop_over_a_short_distance",
    ),
    (
        "bevy_unlag_rewind/src/query/moment.rs",
        "limit < f32::INFINITY",
        "false",
        "bevy_unlag_rewind integration target_that_has_moved_beyond_the_maximum_distance_is_not_hit",
    ),
    (
        "bevy_unlag_rewind/src/table.rs",
        "!limits.hit_despawned",
        "false",
        "bevy_unlag_rewind integration despawned_target_is_hit_where_it_was_unless_that_is_off",
    ),
    (
        "bevy_unlag_weapons/src/shot_validation.rs",
        "history.mark_shot();",
        "",
        "bevy_unlag_weapons integration firing_ends_the_spawn_protection_unless_the_rules_keep_it",
    ),
    (
        "bevy_unlag_weapons/src/reset.rs",
        "verdicts.write_batch(unanswered.take().into_iter().map(missing_move));",
        "",
        "tests scenarios every_shot_is_answered_when_a_blackout_of_4_s_ends_the_connection",
    ),
    (
        "bevy_unlag_lightyear/src/link.rs",
        "f64::from(steered)",
        "1.0",
        "tests scenarios shots_of_a_player_whose_clock_is_5_percent_slow_agree_for_half_a_minute",
    ),
    (
        "bevy_unlag_weapons/src/missed_shots.rs",
        "verdicts.write_batch(missed.drain(..).map(missing_move));",
        "",
        "tests scenarios owners_recover_and_every_shot_is_accounted_for_after_an_outage_both_ways",
    ),
    (
        "bevy_unlag_smoothing/src/published_path.rs",
        "path.track.record_exactly(snapshot, velocity, sampler.tick_seconds);",
        "",
        "bevy_unlag_smoothing bevy_unlag_smoothing late_moves_that_run_in_one_tick_are_drawn_where_they_led",
    ),
    (
        "bevy_unlag_smoothing/src/published_path.rs",
        "with_own_gravity(snapshot, M::time_dilation(state), sampler)",
        "snapshot",
        "bevy_unlag_smoothing integration first_update_of_a_fall_in_a_time_of_its_own_has_its_gravity",
    ),
    (
        "bevy_unlag_weapons/src/projectile/client/flight.rs",
        "self.update_lead(shown, view, frame);",
        "",
        "bevy_unlag_weapons integration bystander_sees_a_projectile_where_the_server_has_it_before_it_arrives",
    ),
    (
        "bevy_unlag_prediction/src/reconciliation.rs",
        "cause == CorrectionCause::ServerChange",
        "false",
        "tests scenarios deaths_and_respawns_are_changes_by_the_server_and_no_corrections",
    ),
    (
        "bevy_unlag_lightyear/src/session/fast_clocks.rs",
        "log(&found, discrepancy);",
        "",
        "tests scenarios clock_at_twice_the_speed_is_reported_in_log_messages_and_counters",
    ),
    (
        "bevy_unlag_lightyear/src/session/fast_clocks.rs",
        "commands.trigger(Kick { entity: link, reason: KickReason::FastClock });",
        "",
        "tests scenarios client_with_a_fast_clock_is_kicked_with_the_reason_if_the_rule_says_so",
    ),
    (*HIGH_PING, "bevy_unlag_weapons bevy_unlag_weapons high_ping_is_shown_3_s_after_joining_and_every_20_s_for_5_s"),
    (*HIGH_PING, "tests scenarios high_ping_warning_is_shown_once_with_its_limits_and_hidden_after_recovery"),
]
