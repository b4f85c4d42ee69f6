import type { TerminalList } from '../../../agent/terminals/terminalList.ts'

/** What each terminal is called: as a person named it, else by the title its program set, else by its command; each name once. */
export function tabLabels(terminals: TerminalList): Map<string, string> {
  const taken = new Map<string, number>()
  const labels = new Map<string, string>()
  for (const { session_id, name: given, title, command } of terminals) {
    const name = given ?? (oneLine(title ?? '') || commandName(command))
    const count = (taken.get(name) ?? 0) + 1
    taken.set(name, count)
    labels.set(session_id, count === 1 ? name : `${name} (${count})`)
  }
  return labels
}

/** `FOO=1 /usr/bin/python3 -i x.py` is `python3`. */
export function commandName(command: string): string {
  const words = command.trim().split(/\s+/)
  const program = words.find((word) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word)) ?? command
  return program.split('/').at(-1) || program
}

function oneLine(title: string): string {
  return title.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
}
