//! Client and server over a seeded, lossy pipe in memory, without a network, with movement models of this
//! test.
//!
//! Behaviour of Unreal's character movement, row by row as in book/src/concepts/prediction.md, and the tests of it:
//!
//! * A01, local prediction: `basics::own_pawn_reacts_in_the_frame_of_its_input`,
//!   `basics::own_pawn_is_drawn_with_the_live_input_between_ticks`
//! * A02, order of a tick: `basics::input_is_sampled_simulated_saved_and_sent_in_one_tick`,
//!   `basics::host_pawn_steps_without_prediction`
//! * A03, input accumulation: `basics::input_sources_add_up_and_are_consumed_once_per_tick`
//! * A04, input clamp and speed by state:
//!   `basics::input_length_is_clamped_and_speed_depends_on_the_mode`
//! * A08, payload of a move: `sending::move_packet_carries_tick_inputs_and_check_of_the_result`,
//!   `sending::move_packets_with_redundancy_fit_the_byte_budget`
//! * A09, saved moves and a full list:
//!   `acks::moves_are_saved_with_their_start_state_until_acknowledged`,
//!   `sending::full_list_of_saved_moves_drops_the_oldest_and_counts_them`
//! * A10, unreliable transport with redundancy:
//!   `determinism::loss_duplicates_and_reordering_change_no_result`,
//!   `faults::moves_run_on_time_at_20_percent_loss`, `faults::bursts_of_eight_lost_packets_lose_no_move`
//! * A11, better than reliable messages:
//!   `sending::redundant_packets_have_lower_latency_than_reliable_messages`
//! * A12, simulation on the server: `server::server_results_do_not_depend_on_forged_checks`
//! * A13, error test and pacing:
//!   `server::error_is_corrected_once_only_beyond_the_tolerance`,
//!   `server::displacement_of_any_distance_is_corrected_within_400_ms`,
//!   `server::difference_of_kind_is_corrected_at_equal_position`,
//!   `acks::small_errors_are_corrected_less_often_than_large_ones`
//! * A14, end position of the client: `server::end_position_within_tolerance_is_accepted_if_configured`
//! * A15, acknowledgements: `acks::ack_of_a_good_move_has_at_most_nine_bytes_and_covers_earlier_moves`,
//!   `acks::acknowledgements_keep_the_configured_interval`
//! * A16 and A19, corrections and immediate replay:
//!   `acks::correction_sets_the_state_and_replays_before_the_next_move`
//! * A17, replays without side effects: `acks::replays_are_flagged_and_emit_no_event_twice`
//! * A18, stale acknowledgements: `acks::stale_acks_and_moves_change_nothing`,
//!   `acks::ack_of_another_epoch_is_ignored`
//! * A20, any model: `basics::second_movement_model_is_predicted_and_corrected`
//! * A21, combining of moves: `sending::moves_without_a_relevant_change_share_a_packet`,
//!   `sending::relevant_change_is_sent_at_once`
//! * A22, dual send: `sending::waiting_moves_are_sent_with_the_first_that_cannot_be_combined`
//! * A23, send rate: `sending::send_rate_is_configured_and_independent_of_the_frame_rate`,
//!   `sending::many_players_a_slow_link_and_neutral_input_throttle_sending`
//! * A24, clock of ticks:
//!   `basics::ticks_follow_game_time_at_any_frame_rate`
//! * A25, wrapping counters instead of resets: `clocks::wrapping_counters_change_no_result`,
//!   `clocks::loss_is_measured_across_wraps_of_the_sequence_number`
//! * A26, stale moves: `acks::stale_acks_and_moves_change_nothing`,
//!   `server::moves_far_from_the_server_tick_are_not_run_and_start_a_new_epoch`
//! * A27, all predicted state: `server::correction_restores_all_predicted_state`
//! * A28, pushes by the server: module `pushes`
//! * A29, the whole path of a move:
//!   `basics::move_runs_on_both_sides_is_acknowledged_and_published`
//! * A46 and A50, an ability in the move:
//!   `abilities::blink_in_a_move_survives_loss_and_corrections_and_takes_effect_once`
//! * A47 to A49, an ability beside the move: `abilities::blink_on_the_client_only_is_corrected`,
//!   `abilities::blink_on_the_server_only_takes_a_round_trip_and_counts_as_correction`,
//!   `abilities::blink_on_both_sides_beside_the_moves_is_lost_in_a_correction`
//! * A51, a true teleport: `abilities::teleport_is_neither_eased_nor_counted_as_correction`,
//!   `pushes::teleporting_push_is_not_eased`
//! * A52, reported outcomes: `abilities::owner_is_notified_once_of_success`,
//!   `abilities::owner_is_notified_once_of_refusal`,
//!   `abilities::owner_is_notified_of_a_blink_that_only_the_server_made`,
//!   `abilities::owner_is_notified_of_the_true_outcome_after_an_outage_of_either_direction`
//! * A53, detection: `time::clock_4_percent_fast_is_flagged_within_a_minute`,
//!   `time::detection_without_resolution_takes_nothing_away`
//! * A54, resolution: `time::clock_at_double_speed_gains_less_than_250_ms_in_two_minutes`,
//!   `time::pawn_of_a_fast_clock_keeps_moving_and_converges_after_slowing_down`
//! * A55, longest lead: `time::clock_is_detected_beyond_max_time_margin`
//! * A56, longest lag: `time::unused_time_is_credited_up_to_min_time_margin`
//! * A57, rate of paying back: `time::resolution_rate_is_the_share_of_moves_lost_while_paying_back`
//! * A58, drift allowance: `time::drift_within_the_allowance_is_not_flagged`
//! * A59, forced corrections: `time::corrections_are_forced_during_resolution_if_configured`
//! * A60, slow and fast motion: `time::slow_motion_is_not_flagged_and_fast_motion_is`
//! * A61, no false positives: `time::honest_clients_on_bad_links_are_never_flagged`,
//!   `time::latency_spikes_outages_and_hitches_are_not_flagged`

mod common;

mod abilities;
mod accepted_positions;
mod acks;
mod basics;
mod causes;
mod clocks;
mod determinism;
mod faults;
mod left_out_parts;
mod move_log;
mod published_state;
mod pushes;
mod sending;
mod server;
mod silence;
mod skipped_systems;
mod snapshot_acks;
mod time;
