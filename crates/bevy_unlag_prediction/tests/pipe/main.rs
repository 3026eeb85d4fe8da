//! Client and server over a seeded, lossy pipe in memory: no network, models of this test's own.
//!
//! What the research into Unreal's character movement lists, and the tests that promise it:
//!
//! | Row | Promise | Tests |
//! |---|---|---|
//! | A01 | the own pawn reacts at once | `basics::the_own_pawn_reacts_in_the_frame_of_the_input`, `…is_drawn_with_the_live_input_between_ticks` |
//! | A02 | gather, move and save, send; a host just steps | `basics::an_input_is_gathered_moved_with_saved_and_sent_in_one_tick`, `…the_pawn_of_a_host_just_steps` |
//! | A03 | sources add up, consumed once a tick | `basics::every_source_adds_to_an_input_that_each_tick_takes_once` |
//! | A04 | input clamp, speed by state | `basics::a_long_wish_is_no_faster_a_short_one_is_slower_and_a_mode_has_its_own_speed` |
//! | A08 | payload of a move | `sending::a_packet_says_when_what_was_wanted_and_where_that_led`, `…a_move_with_its_redundancy_fits_the_budget` |
//! | A09 | saved until answered; a full list | `answers::moves_are_saved_with_where_they_began_until_they_are_answered`, `sending::a_list_that_is_full_keeps_what_it_can_and_says_so` |
//! | A10 | unreliable and redundant | `determinism::loss_duplicates_and_disorder_change_nothing`, `faults::inputs_are_on_time_when_a_fifth_is_lost`, `faults::bursts_of_eight_lose_no_move_and_the_first_one_neither` |
//! | A11 | better than reliable messages | `sending::beats_a_reliable_message_a_tick` |
//! | A12 | the server simulates again | `server::the_server_makes_the_moves_itself_and_no_claim_moves_a_pawn` |
//! | A13 | error test and pacing | `server::what_is_within_tolerance_…`, `server::no_distance_hides_…`, `server::a_difference_of_mode_…`, `answers::small_errors_are_corrected_less_often_than_large_ones` |
//! | A14 | the client's end position | `server::an_end_position_within_tolerance_can_be_taken_over` |
//! | A15 | good answers | `answers::a_good_move_is_answered_in_a_few_bytes_and_settles_all_before_it`, `answers::answers_are_paced_as_they_are_set` |
//! | A16, A19 | bad answers, replay at once | `answers::a_correction_sets_the_state_and_makes_the_rest_again_before_the_next_move` |
//! | A17 | replays are told apart | `answers::replays_are_told_apart_and_nothing_rings_twice` |
//! | A18 | stale answers | `answers::stale_answers_and_moves_change_nothing`, `answers::an_answer_from_another_time_line_is_ignored` |
//! | A20 | any model | `basics::a_second_model_runs_through_the_same_code` |
//! | A21 | combining | `sending::moves_in_which_nothing_relevant_changes_wait_for_each_other`, `sending::a_relevant_change_never_waits` |
//! | A22 | dual send | `sending::what_waited_goes_along_with_what_could_not_be_combined_with_it` |
//! | A23 | send rate | `sending::the_send_rate_is_a_setting_and_no_frame_rate`, `sending::a_crowd_a_narrow_link_and_standing_still_throttle` |
//! | A24 | a clock of ticks | `basics::ticks_count_the_time_that_passed_in_the_game_whatever_the_frames_are_like` |
//! | A25 | no reset, the wrap works | `clocks::every_number_wraps_and_nothing_happens`, `clocks::packets_are_counted_beyond_the_end_of_their_numbers` |
//! | A26 | old moves are ignored | `answers::stale_answers_and_moves_change_nothing`, `server::moves_from_nowhere_near_the_servers_time_…` |
//! | A27 | all that is predicted | `server::a_correction_brings_all_that_is_predicted` |
//! | A28 | pushes by the server | `pushes` |
//! | A29 | the whole way of a move | `basics::a_move_goes_from_the_input_through_both_steps_to_the_answer_and_to_everybody_else` |
//! | A46, A50 | an ability in the move | `abilities::done_in_a_move_it_survives_loss_latency_and_corrections_and_is_heard_once` |
//! | A47 to A49 | an ability beside it | `abilities::done_on_the_client_only_…`, `…done_on_the_server_only_…`, `…done_on_both_sides_…` |
//! | A51 | a true teleport | `abilities::a_blink_is_neither_eased_nor_counted`, `pushes::nobody_sees_a_thrown_pawn_fly` |
//! | A52 | success or refusal is told | `abilities::the_owner_learns_…` |
//! | A53 | detection | `time::a_clock_four_percent_fast_is_flagged_within_a_minute`, `time::detection_alone_takes_nothing_away` |
//! | A54 | resolution | `time::twice_the_speed_gains_less_than_a_quarter_of_a_second_in_two_minutes`, `time::a_fast_clock_is_no_reason_to_stop_…` |
//! | A55 | longest ahead | `time::the_margin_is_how_far_ahead_a_clock_may_be` |
//! | A56 | longest behind | `time::time_that_was_not_used_is_kept_up_to_the_floor` |
//! | A57 | rate of paying back | `time::the_resolution_rate_is_the_share_of_moves_that_is_paid_back_with` |
//! | A58 | drift | `time::drift_is_allowed_for` |
//! | A59 | forced corrections | `time::corrections_can_be_forced_while_somebody_pays_back` |
//! | A60 | slow and fast motion | `time::slow_motion_flags_nobody_and_fast_motion_somebody` |
//! | A61 | nobody honest is flagged | `time::honest_players_on_bad_links_are_never_flagged`, `time::a_spell_of_latency_an_outage_or_a_hitch_flags_nobody` |

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
