import type { LucideIcon } from 'lucide-react'
import { createContext, type ReactNode, useContext, useEffect, useId, useState, useSyncExternalStore } from 'react'
import { createEmitter } from '#shared/emitter.ts'
import { createLeadKey, type LeadKey } from './leadKey.ts'
import { detectKeyboard, findFocus, isUsableIn, matches, parseShortcuts } from './shortcuts.ts'

/** Command in the palette, with its shortcut, offered in menus as well. */
export type Command = {
  id: string
  title: string
  /** The heading it stands under in the palette and in the list of shortcuts. */
  section: string
  icon?: LucideIcon
  /** In the notation of `ui/commands/shortcuts.ts`. */
  shortcut?: string
  keywords?: readonly string[]
  run: () => void
  /** Asked when it is chosen from the palette, where a stop or a signature would be one key away from anything else. */
  question?: CommandQuestion
  /** Holding its shortcut down does it again and again. */
  repeats?: boolean
  /** Absent is enabled; what is not enabled is neither listed nor run. */
  enabled?: boolean
}

/** Explanation of the action, and its label: `Stop sandbox`. */
export type CommandQuestion = { title: string; description: string; confirmLabel: string }

type CommandRegistry = {
  put(owner: string, commands: readonly Command[]): void
  remove(owner: string): void
  all(): readonly Command[]
  subscribe(listener: () => void): () => void
}

const RegistryContext = createContext<CommandRegistry | undefined>(undefined)

/** Holds what can be done now, and listens for the shortcuts: the only key listener of the page. */
export function CommandProvider({ children }: { children: ReactNode }) {
  const [registry] = useState(createCommandRegistry)
  useEffect(() => {
    const lead = createLeadKey()
    const onKeyDown = (event: KeyboardEvent) => runShortcut(registry.all(), lead, event)
    // Before a terminal sees the key: it would take it as input.
    window.addEventListener('keydown', onKeyDown, { capture: true })
    return () => window.removeEventListener('keydown', onKeyDown, { capture: true })
  }, [registry])
  return <RegistryContext value={registry}>{children}</RegistryContext>
}

/** Offers `commands` while the component is mounted. Of two with one id the one mounted last counts. */
export function useCommands(commands: readonly Command[]): void {
  const registry = useRegistry()
  const owner = useId()
  useEffect(() => registry.put(owner, commands))
  useEffect(() => () => registry.remove(owner), [registry, owner])
}

export function useRegisteredCommands(): readonly Command[] {
  const registry = useRegistry()
  return useSyncExternalStore(registry.subscribe, registry.all)
}

function useRegistry(): CommandRegistry {
  const registry = useContext(RegistryContext)
  if (!registry) throw new Error('useCommands needs a CommandProvider above it')
  return registry
}

function createCommandRegistry(): CommandRegistry {
  const owned = new Map<string, readonly Command[]>()
  const changes = createEmitter()
  let newest = new Map<string, Command>()
  let visible: readonly Command[] = []
  const gather = () => {
    newest = new Map([...owned.values()].flat().map((command) => [command.id, command]))
    const enabled = [...newest.values()].filter((command) => command.enabled ?? true)
    if (serializeVisible(enabled) === serializeVisible(visible)) return
    // The list stays the same while only a `run` is renewed, so `run` asks for the newest.
    visible = enabled.map((command) => ({ ...command, run: () => newest.get(command.id)?.run() }))
    changes.emit()
  }
  return {
    put(owner, commands) {
      owned.set(owner, commands)
      gather()
    },
    remove(owner) {
      owned.delete(owner)
      gather()
    },
    all: () => visible,
    subscribe: changes.subscribe,
  }
}

/** All of a list but its functions. */
function serializeVisible(commands: readonly Command[]): string {
  return JSON.stringify(commands.map(({ run, icon, ...fields }) => fields))
}

function runShortcut(commands: readonly Command[], lead: LeadKey, event: KeyboardEvent): void {
  if (event.isComposing || event.defaultPrevented || isModifier(event.key)) return
  const focus = findFocus(event.target)
  const keyboard = detectKeyboard()
  const usable = commands.map((command) => ({
    command,
    shortcuts: command.shortcut ? parseShortcuts(command.shortcut, keyboard).filter((it) => isUsableIn(focus, it)) : [],
  }))
  const led = lead.take(event.timeStamp)
  const pressed = (after: string | undefined) =>
    usable.find(({ shortcuts }) => shortcuts.some((it) => it.lead === after && matches(it, event)))?.command
  const command = (led === undefined ? undefined : pressed(led)) ?? pressed(undefined)
  if (!command) {
    if (!event.repeat) {
      const shortcuts = usable.flatMap((it) => it.shortcuts)
      lead.keep(event, { shortcuts, atMs: event.timeStamp })
    }
    return
  }
  event.preventDefault()
  event.stopPropagation()
  if (!event.repeat || command.repeats) command.run()
}

/** Pressed alone it does nothing yet. */
function isModifier(key: string): boolean {
  return ['Alt', 'AltGraph', 'Control', 'Meta', 'Shift'].includes(key)
}
