//! Variables whose value is code: pagers, editors and filters that programs run through a shell.

use super::step::{Step, perform};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Machine};

/// Which programs run a variable's value.
struct Hook {
    variables: &'static [&'static str],
    programs: &'static [&'static str],
    /// One of these arguments must be there, when there are any.
    needs: &'static [&'static str],
}

/// The hooks; git's own stand with git.
#[rustfmt::skip]
static HOOKS: &[Hook] = &[
    Hook { variables: &["PAGER", "MANPAGER"], programs: &["apropos", "man", "whatis"], needs: &[] },
    Hook {
        variables: &["PAGER"],
        programs: &[
            "aws", "bat", "batcat", "delta", "gh", "glab", "hg", "jj", "mariadb", "mycli", "mysql",
            "pgcli", "psql", "pydoc", "pydoc3", "sl", "sqlite3", "svn", "tig", "perldoc",
            "journalctl", "systemctl", "loginctl", "machinectl", "bootctl", "coredumpctl",
            "networkctl", "resolvectl", "timedatectl",
        ],
        needs: &[],
    },
    Hook { variables: &["PSQL_PAGER"], programs: &["psql"], needs: &[] },
    Hook { variables: &["BAT_PAGER"], programs: &["bat", "batcat"], needs: &[] },
    Hook { variables: &["DELTA_PAGER"], programs: &["delta"], needs: &[] },
    Hook { variables: &["GH_PAGER", "GLAB_PAGER"], programs: &["gh", "glab"], needs: &[] },
    Hook { variables: &["AWS_PAGER"], programs: &["aws"], needs: &[] },
    Hook {
        variables: &["SYSTEMD_PAGER"],
        programs: &[
            "bootctl", "coredumpctl", "journalctl", "loginctl", "machinectl", "networkctl",
            "resolvectl", "systemctl", "timedatectl",
        ],
        needs: &[],
    },
    Hook { variables: &["LESSOPEN", "LESSCLOSE"], programs: &["less", "lessecho", "zless"], needs: &[] },
    Hook { variables: &["EDITOR", "VISUAL"], programs: &["crontab", "fc", "sudo", "virsh"], needs: &["-e", "edit", "--edit"] },
    Hook { variables: &["SUDO_EDITOR"], programs: &["sudo", "sudoedit"], needs: &[] },
    Hook {
        variables: &["EDITOR", "VISUAL"],
        programs: &[
            "less", "more", "sudoedit", "vidir", "vigr", "vipe", "vipw", "visudo", "zless",
            "psql", "mysql", "sqlite3", "hg", "jj", "sl", "svn", "gh", "glab",
        ],
        needs: &[],
    },
    Hook {
        variables: &["EDITOR", "VISUAL", "KUBE_EDITOR", "OC_EDITOR", "SYSTEMD_EDITOR", "BUNDLER_EDITOR", "GEM_EDITOR"],
        programs: &["bundle", "gem", "kubectl", "oc", "rails", "systemctl", "ansible-vault", "sops", "pass"],
        needs: &["edit", "open", "credentials:edit", "create"],
    },
    Hook { variables: &["EDITOR"], programs: &["sops"], needs: &[] },
    Hook { variables: &["PSQL_EDITOR"], programs: &["psql"], needs: &[] },
    Hook { variables: &["HGEDITOR"], programs: &["hg", "sl"], needs: &[] },
    Hook { variables: &["SVN_EDITOR", "SVN_SSH"], programs: &["svn"], needs: &[] },
    Hook { variables: &["FZF_DEFAULT_COMMAND"], programs: &["fzf", "fzf-tmux"], needs: &[] },
    Hook { variables: &["RSYNC_RSH", "RSYNC_CONNECT_PROG"], programs: &["rsync"], needs: &[] },
    Hook { variables: &["CVS_RSH"], programs: &["cvs"], needs: &[] },
    Hook { variables: &["SSH_ASKPASS"], programs: &["ssh", "ssh-add", "scp", "sftp"], needs: &[] },
    Hook { variables: &["SUDO_ASKPASS"], programs: &["sudo"], needs: &["-A", "--askpass"] },
    Hook {
        variables: &["BROWSER"],
        programs: &["gh", "glab", "man", "open-url", "pydoc", "sensible-browser", "www-browser", "xdg-open"],
        needs: &[],
    },
];

/// Runs the code that the variables of a call hand to its program.
pub fn run(machine: &mut Machine<'_>, call: &Call<'_>) {
    for (name, value) in call.env {
        let runs = HOOKS.iter().any(|hook| {
            hook.variables.contains(&name.as_str())
                && hook.programs.contains(&call.name)
                && (hook.needs.is_empty()
                    || call.args.iter().any(|arg| hook.needs.iter().any(|need| arg.is(need))))
        });
        // A value of which nothing is known is the user's own choice, not this line's.
        if runs && !value.prefix().is_empty() {
            perform(machine, &[Step::Unread(vec![Step::Code(code(value))])], call);
        }
    }
}

/// less marks commands that it reads from: `|cmd`, `||cmd`, `|-cmd`.
fn code(value: &Field) -> Field {
    let mut value = value.clone();
    while let Some(rest) = value.strip_prefix("|").or_else(|| value.strip_prefix("-")) {
        value = rest;
    }
    value
}
