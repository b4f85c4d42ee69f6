import type { LucideIcon } from 'lucide-react'
import { createContext, type ReactNode, useContext, useEffect, useId, useState, useSyncExternalStore } from 'react'
import { createEmitter } from '#shared/emitter.ts'
import { createLeadKey, type LeadKey } from './leadKey.ts'
import { detectKeyboard, findFocus, isUsableIn, matches, parseShortcuts } from './shortcuts.ts'

/** Command for the palette and menus, with an optional shortcut. */
export type Command = {
  id: string
  title: string
  /** Heading in the palette and in the list of shortcuts. */
  section: string
  icon?: LucideIcon
  /** Shortcut in the notation of `ui/commands/shortcuts.ts`. */
  shortcut?: string
  keywords?: readonly string[]
  run: () => void
  /**
   * Confirmation shown when the command is selected in the palette, where an unintended command is only one key away.
   */
  question?: CommandQuestion
  /** Whether holding down the shortcut repeats the command. */
  repeats?: boolean
  /** Defaults to true. A disabled command is neither listed nor run. */
  enabled?: boolean
}

/** Explanation of the action, and the label of its button, such as `Stop sandbox`. */
export type CommandQuestion = { title: string; description: string; confirmLabel: string }

type CommandRegistry = {
  put(owner: string, commands: readonly Command[]): void
  remove(owner: string): void
  all(): readonly Command[]
  subscribe(listener: () => void): () => void
}

const RegistryContext = createContext<CommandRegistry | undefined>(undefined)

/** Provides the available commands and handles their shortcuts. Contains the only key listener of the page. */
export function CommandProvider({ children }: { children: ReactNode }) {
  const [registry] = useState(createCommandRegistry)
  useEffect(() => {
    const lead = createLeadKey()
    const onKeyDown = (event: KeyboardEvent) => runShortcut(registry.all(), lead, event)
    // Runs in the capture phase, before a terminal would handle the key as input.
    window.addEventListener('keydown', onKeyDown, { capture: true })
    return () => window.removeEventListener('keydown', onKeyDown, { capture: true })
  }, [registry])
  return <RegistryContext value={registry}>{children}</RegistryContext>
}

/**
 * Registers `commands` while the component is mounted. If an id is registered more than once, the last mounted command
 * wins.
 */
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
  if (!registry) throw new Error('useCommands must be used within a CommandProvider')
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
    // The list is unchanged if only `run` changes, so `run` looks up the latest function.
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

/** Serializes all fields of a list except functions and icons. */
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
    usable.find(({ shortcuts }) => shortcuts.some((shortcut) => shortcut.lead === after && matches(shortcut, event)))
      ?.command
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

/** Whether the key is a modifier, which has no effect when pressed alone. */
function isModifier(key: string): boolean {
  return ['Alt', 'AltGraph', 'Control', 'Meta', 'Shift'].includes(key)
}
