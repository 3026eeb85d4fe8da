//! Client and server over a seeded, lossy pipe in memory, without a network, with movement models of this
//! test.
//!
//! Behaviour of Unreal's character movement, row by row as in docs/prediction.md, and the tests of it:
//!
//! * A01, local prediction: `basics::the_own_pawn_reacts_in_the_frame_of_the_input`,
//!   `basics::own_pawn_is_drawn_with_the_live_input_between_ticks`
//! * A02, order of a tick: `basics::an_input_is_gathered_moved_with_saved_and_sent_in_one_tick`,
//!   `basics::the_pawn_of_a_host_just_steps`
//! * A03, input accumulation: `basics::every_source_adds_to_an_input_that_each_tick_takes_once`
//! * A04, input clamp and speed by state:
//!   `basics::a_long_wish_is_no_faster_a_short_one_is_slower_and_a_mode_has_its_own_speed`
//! * A08, payload of a move: `sending::a_packet_says_when_what_was_wanted_and_where_that_led`,
//!   `sending::move_packets_with_redundancy_fit_the_byte_budget`
//! * A09, saved moves and a full list:
//!   `answers::moves_are_saved_with_where_they_began_until_they_are_answered`,
//!   `sending::full_list_of_saved_moves_drops_the_oldest_and_counts_them`
//! * A10, unreliable transport with redundancy: `determinism::loss_duplicates_and_disorder_change_nothing`,
//!   `faults::moves_run_on_time_at_20_percent_loss`,
//!   `faults::bursts_of_eight_lose_no_move_and_the_first_one_neither`
//! * A11, better than reliable messages: `sending::beats_a_reliable_message_a_tick`
//! * A12, simulation on the server: `server::the_server_makes_the_moves_itself_and_no_claim_moves_a_pawn`
//! * A13, error test and pacing:
//!   `server::what_is_within_tolerance_is_let_be_and_what_is_not_is_corrected_once`,
//!   `server::displacement_of_any_distance_is_corrected_within_400_ms`,
//!   `server::a_difference_of_mode_is_corrected_where_no_distance_shows`,
//!   `answers::small_errors_are_corrected_less_often_than_large_ones`
//! * A14, end position of the client: `server::an_end_position_within_tolerance_can_be_taken_over`
//! * A15, acknowledgements: `answers::a_good_move_is_answered_in_a_few_bytes_and_settles_all_before_it`,
//!   `answers::acknowledgements_keep_the_configured_interval`
//! * A16 and A19, corrections and immediate replay:
//!   `answers::a_correction_sets_the_state_and_makes_the_rest_again_before_the_next_move`
//! * A17, replays without side effects: `answers::replays_are_told_apart_and_nothing_rings_twice`
//! * A18, stale acknowledgements: `answers::stale_answers_and_moves_change_nothing`,
//!   `answers::an_answer_from_another_time_line_is_ignored`
//! * A20, any model: `basics::a_second_model_runs_through_the_same_code`
//! * A21, combining of moves: `sending::moves_in_which_nothing_relevant_changes_wait_for_each_other`,
//!   `sending::a_relevant_change_never_waits`
//! * A22, dual send: `sending::what_waited_goes_along_with_what_could_not_be_combined_with_it`
//! * A23, send rate: `sending::the_send_rate_is_a_setting_and_no_frame_rate`,
//!   `sending::a_crowd_a_narrow_link_and_standing_still_throttle`
//! * A24, clock of ticks:
//!   `basics::ticks_count_the_time_that_passed_in_the_game_whatever_the_frames_are_like`
//! * A25, wrapping counters instead of resets: `clocks::every_number_wraps_and_nothing_happens`,
//!   `clocks::loss_is_measured_across_wraps_of_the_sequence_number`
//! * A26, stale moves: `answers::stale_answers_and_moves_change_nothing`,
//!   `server::moves_from_nowhere_near_the_servers_time_are_not_run_and_their_client_begins_anew`
//! * A27, all predicted state: `server::a_correction_brings_all_that_is_predicted`
//! * A28, pushes by the server: module `pushes`
//! * A29, the whole path of a move:
//!   `basics::a_move_goes_from_the_input_through_both_steps_to_the_answer_and_to_everybody_else`
//! * A46 and A50, an ability in the move:
//!   `abilities::blink_in_a_move_survives_loss_and_corrections_and_takes_effect_once`
//! * A47 to A49, an ability beside the move: `abilities::blink_on_the_client_only_is_corrected`,
//!   `abilities::blink_on_the_server_only_takes_a_round_trip_and_counts_as_correction`,
//!   `abilities::blink_on_both_sides_beside_the_moves_is_lost_in_a_correction`
//! * A51, a true teleport: `abilities::a_blink_is_neither_eased_nor_counted`,
//!   `pushes::nobody_sees_a_thrown_pawn_fly`
//! * A52, reported outcomes: `abilities::the_owner_learns_once_that_it_succeeded`,
//!   `abilities::the_owner_learns_once_that_it_was_refused`,
//!   `abilities::owner_is_notified_of_a_blink_that_only_the_server_made`,
//!   `abilities::owner_is_notified_of_the_true_outcome_after_an_outage_of_either_direction`
//! * A53, detection: `time::a_clock_four_percent_fast_is_flagged_within_a_minute`,
//!   `time::detection_without_resolution_takes_nothing_away`
//! * A54, resolution: `time::twice_the_speed_gains_less_than_a_quarter_of_a_second_in_two_minutes`,
//!   `time::pawn_of_a_fast_clock_keeps_moving_and_converges_after_slowing_down`
//! * A55, longest lead: `time::the_margin_is_how_far_ahead_a_clock_may_be`
//! * A56, longest lag: `time::time_that_was_not_used_is_kept_up_to_the_floor`
//! * A57, rate of paying back: `time::the_resolution_rate_is_the_share_of_moves_that_is_paid_back_with`
//! * A58, drift allowance: `time::drift_is_allowed_for`
//! * A59, forced corrections: `time::corrections_can_be_forced_while_somebody_pays_back`
//! * A60, slow and fast motion: `time::slow_motion_flags_nobody_and_fast_motion_somebody`
//! * A61, no false positives: `time::honest_players_on_bad_links_are_never_flagged`,
//!   `time::a_spell_of_latency_an_outage_or_a_hitch_flags_nobody`

mod common;

mod abilities;
mod answers;
mod basics;
mod causes;
mod clocks;
mod determinism;
mod faults;
mod heard;
mod others;
mod pushes;
mod sending;
mod server;
mod silence;
mod time;
