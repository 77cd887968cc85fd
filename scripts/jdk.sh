# shellcheck shell=bash
# Finds a JDK 25 or later. Sourced by ./kinema and ./check; starts no process, so it costs a millisecond.

readonly KINEMA_LEAST_JAVA=25

# Sets jdk_major to the feature version of the JDK in folder $1; fails when that is not a whole JDK.
# The version is read from the `release` file: starting each `java` would take longer than Kinema itself does.
jdk_version() {
    local key value
    jdk_major=0
    [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 1
    while IFS='=' read -r key value || [ -n "$key" ]; do
        if [ "$key" = JAVA_VERSION ]; then
            value=${value//[\"$'\r']/}
            value=${value#1.}
            value=${value%%[!0-9]*}
            jdk_major=${value:-0}
        fi
    done < "$1/release"
    [ "$jdk_major" -gt 0 ]
}

jdk_fits() { jdk_version "$1" && [ "$jdk_major" -ge "$KINEMA_LEAST_JAVA" ]; }

# Sets jdk_home to the JDK whose `java` is first on PATH, following links.
jdk_on_path() {
    local file link
    file=$(type -P java) || return 1
    while [ -L "$file" ]; do
        link=$(readlink "$file") || return 1
        case $link in /*) file=$link ;; *) file=${file%/*}/$link ;; esac
    done
    jdk_home=${file%/bin/java}
}

# Sets jdk_folders to where package managers and installers put JDKs on Linux and macOS.
usual_jdk_folders() {
    local home=${HOME:-/nowhere}
    jdk_folders=(/usr/lib/jvm/* /usr/lib64/jvm/* /usr/java/* /opt/* /opt/*/*
        "$home"/.sdkman/candidates/java/* "$home"/.jdks/*
        "$home"/.local/share/mise/installs/java/* "$home"/.asdf/installs/java/*
        /Library/Java/JavaVirtualMachines/*/Contents/Home
        "$home"/Library/Java/JavaVirtualMachines/*/Contents/Home
        /opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home
        /usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home)
}

# Sets KINEMA_JDK to the JDK to use: JAVA_HOME, else PATH, else the usual folders (there the one nearest to the
# version that Kinema is tested with). Prints one line and fails when there is none.
find_jdk() {
    local folder jdk_folders jdk_home jdk_major nearest=0
    KINEMA_JDK=
    if [ -n "${JAVA_HOME:-}" ] && jdk_fits "${JAVA_HOME%/}"; then
        KINEMA_JDK=${JAVA_HOME%/}
        return 0
    fi
    if jdk_on_path && jdk_fits "$jdk_home"; then
        KINEMA_JDK=$jdk_home
        return 0
    fi
    usual_jdk_folders
    for folder in "${jdk_folders[@]}"; do
        if jdk_fits "$folder" && { [ "$nearest" -eq 0 ] || [ "$jdk_major" -lt "$nearest" ]; }; then
            nearest=$jdk_major
            KINEMA_JDK=$folder
        fi
    done
    [ -n "$KINEMA_JDK" ] && return 0
    echo "kinema: needs a JDK $KINEMA_LEAST_JAVA or later and found none in JAVA_HOME, PATH, /usr/lib/jvm, /opt or ~/.sdkman;" \
        "get one from https://adoptium.net or with 'sdk install java 25-tem', or set JAVA_HOME to yours" >&2
    return 1
}

# Maven starts faster without the second compiler; the other options keep JDK 25 from warning about Maven's own libraries.
kinema_maven_options() {
    export MAVEN_OPTS="-XX:+UseSerialGC -XX:TieredStopAtLevel=1 --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow ${MAVEN_OPTS:-}"
}
