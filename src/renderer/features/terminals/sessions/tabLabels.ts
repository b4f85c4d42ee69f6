import type { TerminalList } from '#renderer/api/terminals/terminalList.ts'
import { toOneLine } from '#shared/untrustedText.ts'

/**
 * Returns unique labels of terminals: the user's name, otherwise the title set by the program, the foreground program,
 * or the command. The numbering is stable: the third `bash` remains `bash (3)` when another one is renamed.
 */
export function buildTabLabels(terminals: TerminalList): Map<string, string> {
  const ofCommand = new Map<string, number>()
  const used = new Set<string>()
  const labels = new Map<string, string>()
  for (const { session_id, name, title, process, command } of terminals) {
    const program = getCommandName(command)
    const place = (ofCommand.get(program) ?? 0) + 1
    ofCommand.set(program, place)
    const own = name ?? (toOneLine(title ?? '') || (process ?? ''))
    const label = own === '' ? freeLabel(program, place, used) : freeLabel(own, 1, used)
    used.add(label)
    labels.set(session_id, label)
  }
  return labels
}

function freeLabel(name: string, from: number, used: ReadonlySet<string>): string {
  for (let number = from; ; number++) {
    const label = number === 1 ? name : `${name} (${number})`
    if (!used.has(label)) return label
  }
}

/** Returns the program name of a command: `python3` for `FOO=1 /usr/bin/python3 -i x.py`. */
export function getCommandName(command: string): string {
  const words = command.trim().split(/\s+/)
  const program = words.find((word) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word)) ?? command
  return program.split('/').at(-1) || program
}
