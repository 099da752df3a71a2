//! Programs whose operands are words for people, patterns or names to look up: a dangerous command
//! among them is only mentioned.

/// The names, in order.
#[rustfmt::skip]
static NAMES: &[&str] = &[
    "[", "[[", "ack", "ack-grep", "ag", "agrep", "aider", "amp", "apropos", "apt", "apt-cache",
    "apt-file", "apt-get", "asana", "aspell", "banner", "bc", "bind", "brew", "cal", "calc",
    "cargo-search", "cgrep", "chatgpt", "cheat", "claude", "codespell", "codex", "compgen",
    "complete", "composer", "cowsay", "dasel", "dialog", "dict", "diff", "dig", "dnf", "dnf5",
    "dpkg", "dpkg-query", "egrep", "emerge", "espeak", "espeak-ng", "exa", "expr", "eza",
    "fabric", "fgrep", "figlet", "flatpak", "fortune", "fx", "fzf", "gem", "gemini", "gh", "glab",
    "glow", "goose", "grepcidr", "gron", "gum", "help", "hg", "history", "hostname", "howdoi",
    "hub", "info", "jira", "jq", "kdialog", "kill", "killall", "linear", "llm", "logger",
    "lolcat", "look", "ls", "lsd", "lsof", "mail", "mailx", "man", "mdcat", "mods", "msmtp",
    "mutt", "notify-send", "npm", "nslookup", "ntfy", "ntfysh", "opencode", "pacman", "paru",
    "pcre2grep", "pcregrep", "pgrep", "pidof", "pip", "pip3", "pipdeptree", "pkg", "pkill", "pm2",
    "port", "ps", "pstree", "pt", "qwen", "rg", "rga", "ripgrep", "rofi", "rpm", "rpmquery",
    "say", "sendmail", "sgpt", "sift", "slack", "snap", "spd-say", "svn", "teams",
    "terminal-notifier", "test", "tldr", "todo", "toilet", "tput", "trans", "type", "ug", "ugrep",
    "units", "wall", "whatis", "whereis", "which", "whiptail", "who", "whois", "winget", "wmctrl",
    "wn", "wordnet", "write", "xdotool", "xmessage", "xq", "yad", "yay", "yq", "yum", "zenity",
    "zgrep", "zypper",
];

/// Whether a program takes its operands as words, and runs none of them.
#[must_use]
pub fn takes_words(name: &str) -> bool {
    NAMES.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_in_order_and_there_once() {
        assert!(NAMES.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(takes_words("man") && !takes_words("cmake"));
    }
}
