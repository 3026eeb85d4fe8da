//! Plugin groups of the suite in the wrong place or number: one line explains Bevy's panic.

use std::{env, process::Command};

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use bevy_unlag_testkit::headless_app;

/// Set in the process that adds the plugins.
const CASE: &str = "UNLAG_TEST_PLUGIN_GROUPS";

/// Returns what a process prints in which this test adds the plugins of a case, and panics.
fn printed(test: &str, case: &str) -> String {
    let child = Command::new(env::current_exe().expect("this test"))
        .args(["--exact", &format!("plugin_groups::{test}"), "--nocapture"])
        .env(CASE, case)
        .output()
        .expect("the test can start itself");
    let text = String::from_utf8_lossy(&child.stderr).into_owned();
    assert!(!child.status.success() && text.contains("panicked"), "{case}: {text}");
    text
}

/// Asserts that a line with this text is printed once, and no other explanation.
fn assert_explained(text: &str, explanation: &str, case: &str) {
    let lines: Vec<_> = text.lines().filter(|line| line.starts_with("bevy_unlag: ")).collect();
    assert!(lines.len() == 1 && lines[0].contains(explanation), "{case}: {text}");
}

#[test]
fn suite_before_bevys_plugins_is_explained_in_one_sentence() {
    const EXPLANATION: &str =
        "add DefaultPlugins, or MinimalPlugins with TransformPlugin and StatesPlugin, before";
    match env::var(CASE).as_deref() {
        Ok("client") => {
            App::new().add_plugins((UnlagClientPlugins::default(), MinimalPlugins));
        }
        Ok("server") => {
            App::new().add_plugins((UnlagServerPlugins::default(), MinimalPlugins));
        }
        // Control: another panic, in an app with plugins in the right order.
        Ok(_) => {
            let mut app = headless_app();
            app.add_plugins(UnlagClientPlugins::default());
            panic!("another reason");
        }
        Err(_) => {
            let test = "suite_before_bevys_plugins_is_explained_in_one_sentence";
            for case in ["client", "server"] {
                assert_explained(&printed(test, case), EXPLANATION, case);
            }
            let text = printed(test, "neither");
            assert!(!text.contains(EXPLANATION), "{text}");
        }
    }
}

#[test]
fn both_groups_in_one_app_are_explained_in_one_sentence() {
    const EXPLANATION: &str = "A listen server has UnlagServerPlugins alone, and HostSoldierPawn";
    let (server, client) = (UnlagServerPlugins::default(), UnlagClientPlugins::default());
    match env::var(CASE).as_deref() {
        Ok("client last") => {
            headless_app().add_plugins((server, client));
        }
        Ok("server last") => {
            headless_app().add_plugins((client, server));
        }
        // Control: another panic, in a listen server.
        Ok(_) => {
            let mut app = headless_app();
            app.add_plugins(server);
            panic!("another reason");
        }
        Err(_) => {
            let test = "both_groups_in_one_app_are_explained_in_one_sentence";
            for case in ["client last", "server last"] {
                assert_explained(&printed(test, case), EXPLANATION, case);
            }
            let text = printed(test, "neither");
            assert!(!text.contains(EXPLANATION), "{text}");
        }
    }
}
