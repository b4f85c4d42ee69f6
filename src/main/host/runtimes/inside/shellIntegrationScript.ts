import { marksDescriptorVariable } from '#shared/terminalMarks.ts'

/** Path of the script in sandboxes. `/etc/profile` and the user's `.bashrc` source it. */
export const shellIntegrationPath = '/etc/profile.d/steward-marks.sh'

/**
 * Shell integration. Marks the begin and end of prompts, commands and their output (OSC 133), and the working directory
 * (OSC 7). The user's prompt and prompt commands are preserved and are marked whenever they change. A high index in the
 * array of prompt commands is not overwritten by `PROMPT_COMMAND=…`. Each mark ends with the terminal's key, so that
 * printing a file cannot forge marks. The shell reads the key from a pipe, which is drained and closed before the shell
 * runs other commands.
 * @see https://gitlab.freedesktop.org/Per_Bothner/specifications/blob/master/proposals/semantic-prompts.md
 */
export const shellIntegrationScript = `if [ -n "\${${marksDescriptorVariable}-}" ]; then
  __steward_key=
  IFS= read -r __steward_key <"/dev/fd/$${marksDescriptorVariable}" || :
  [ -z "$__steward_key" ] || __steward_key=";steward=$__steward_key"
  [ -z "\${BASH_VERSION-}" ] || eval "exec $${marksDescriptorVariable}<&-"
fi 2>/dev/null
unset ${marksDescriptorVariable}
case $- in *i*) ;; *) return 0 ;; esac
[ -n "$BASH_VERSION" ] && [ "$TERM" != dumb ] || return 0
[ $((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1])) -ge 501 ] || return 0
case "$(declare -p PROMPT_COMMAND 2>/dev/null)" in 'declare -'*x*' PROMPT_COMMAND'*) return 0 ;; esac

__steward_marks() {
  { local status=$? -; set +xu; } 2>/dev/null
  local prompt="\\[\\e]133;A$__steward_key\\a\\]" input="\\[\\e]133;B$__steward_key\\a\\]" started="\\e]133;C$__steward_key\\a" path
  path=\${PWD//[[:cntrl:]]/?}
  printf '\\e]133;D;%s%s\\a\\e]7;file://%s%s\\a' "$status" "$__steward_key" "$HOSTNAME" "\${path//%/%25}"
  if [ "$PS1" != "$__steward_ps1" ]; then
    PS1=\${PS1//"$prompt"/}
    PS1=$prompt\${PS1//"$input"/}$input
    __steward_ps1=$PS1
  fi
  case $PS0 in *"$started"*) ;; *) PS0=$started$PS0 ;; esac
}
PROMPT_COMMAND[64]=__steward_marks
`
