import { Command as Primitive } from 'cmdk'
import { Search } from 'lucide-react'
import { Dialog as DialogPrimitive } from 'radix-ui'
import { useState } from 'react'
import { z } from 'zod'
import { persistValue } from '../../storage/persistValue.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { type Command, useRegisteredCommands } from '../../ui/commands/commandRegistry.tsx'
import { detectKeyboard, matches, parseShortcuts } from '../../ui/commands/shortcuts.ts'
import { Kbd } from '../../ui/Kbd.tsx'
import { useLayers } from '../../ui/Layers.tsx'
import { useFocusReturn } from '../../ui/useFocusReturn.ts'
import { groupBySection } from '../bySection.ts'
import { rankCommands } from './rankCommands.ts'
import { type PaletteItem, usePaletteTargets } from './usePaletteTargets.ts'

const recentCommandIds = persistValue('steward.palette.recent', z.array(z.string()), [])
const maxRecentCommands = 20

type CommandPaletteProps = { open: boolean; onOpenChange: (open: boolean) => void }

/** Rows rendered initially, and added when the selection or the scroll position nears the end. */
const pageSize = 30
/** Maximum number of rows. Further commands are found by searching. */
const maxResults = 100
const rowsAhead = 5

export function CommandPalette({ open, onOpenChange }: CommandPaletteProps) {
  const giveFocusBack = useFocusReturn(open)
  const [unconfirmed, setUnconfirmed] = useState<Command>()
  const choose = (command: Command) => {
    onOpenChange(false)
    saveRecentCommand(command.id)
    // Runs after focus has returned from the palette, so that the opened element can take it.
    runAfterFocusReturn(() => (command.question ? setUnconfirmed(command) : command.run()))
  }
  return (
    <>
      <DialogPrimitive.Root open={open} onOpenChange={onOpenChange}>
        <DialogPrimitive.Portal container={useLayers()}>
          <DialogPrimitive.Overlay className="animate-fade fixed inset-0 z-40 bg-overlay" />
          <DialogPrimitive.Content
            aria-describedby={undefined}
            onCloseAutoFocus={giveFocusBack}
            onKeyDown={(event) => {
              const again = parseShortcuts('mod+k, mod+shift+p', detectKeyboard())
              if (!again.some((shortcut) => matches(shortcut, event))) return
              event.preventDefault()
              onOpenChange(false)
            }}
            className="animate-appear fixed top-[12vh] left-1/2 z-40 w-[calc(100%-2rem)] max-w-140 -translate-x-1/2 overflow-hidden rounded-dialog bg-raised text-text shadow-dialog outline-none low:top-4"
          >
            <DialogPrimitive.Title className="sr-only">Commands</DialogPrimitive.Title>
            <CommandList onChoose={choose} />
          </DialogPrimitive.Content>
        </DialogPrimitive.Portal>
      </DialogPrimitive.Root>
      {unconfirmed?.question && (
        <ConfirmDialog
          open
          onOpenChange={(next) => !next && setUnconfirmed(undefined)}
          {...unconfirmed.question}
          onConfirm={async () => unconfirmed.run()}
        />
      )}
    </>
  )
}

function CommandList({ onChoose }: { onChoose: (command: Command) => void }) {
  const [query, setQuery] = useState('')
  const [recent] = useState(readRecentCommands)
  const [pointedAt, setPointedAt] = useState('')
  const [visibleCount, setVisibleCount] = useState(pageSize)
  const places = usePaletteTargets(query)
  const commands = useRegisteredCommands().filter(({ id }) => id !== 'window.palette')
  const inOrder = groupBySection(commands).flatMap(([, members]) => members)
  const results = rankCommands<PaletteItem>([...inOrder, ...places], query, recent).slice(0, visibleCount)
  const showMore = () => setVisibleCount((count) => Math.min(count + pageSize, maxResults))
  const select = (id: string) => {
    setPointedAt(id)
    if (results.findIndex((it) => it.id === id) > results.length - rowsAhead) showMore()
  }
  const selected = results.some(({ id }) => id === pointedAt) ? pointedAt : (results[0]?.id ?? '')
  return (
    <Primitive label="Commands" shouldFilter={false} loop value={selected} onValueChange={select}>
      <div className="flex h-11 items-center gap-2.5 border-b border-line px-3.5">
        <Search aria-hidden className="size-4 shrink-0 text-faint" />
        <Primitive.Input
          placeholder="Search commands, sandboxes, ports and files"
          value={query}
          onValueChange={(text) => {
            setQuery(text)
            setPointedAt('') // select the best match of the new query
            setVisibleCount(pageSize)
          }}
          className="h-full min-w-0 flex-1 bg-transparent text-title outline-none"
        />
        <Kbd shortcut="escape" />
      </div>
      <Primitive.List
        label="Commands"
        className="max-h-[min(24rem,60vh)] overflow-auto p-1.5"
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          if (scrollHeight - scrollTop - clientHeight < clientHeight) showMore()
        }}
      >
        {results.length === 0 && <p className="px-2.5 py-6 text-center text-muted">No matches.</p>}
        {results.map((item) => (
          <CommandRow key={item.id} item={item} onSelect={() => onChoose(item)} />
        ))}
      </Primitive.List>
    </Primitive>
  )
}

function CommandRow({ item, onSelect }: { item: PaletteItem; onSelect: () => void }) {
  const { id, title, section, note = section, icon: Icon, shortcut } = item
  return (
    <Primitive.Item
      value={id}
      onSelect={onSelect}
      className="group flex h-8 select-none items-center gap-2.5 rounded-control px-2 aria-selected:bg-selected"
    >
      {Icon ? <Icon aria-hidden className="size-4 shrink-0 text-muted" /> : <span className="size-4 shrink-0" />}
      <span data-title className="min-w-0 flex-1 truncate">
        {title}
      </span>
      <span className="max-w-48 truncate text-small text-faint group-aria-selected:text-muted max-narrow:max-w-28">
        {note}
      </span>
      <span className="flex gap-2">
        {shortcut?.split(', ').map((one) => (
          <Kbd key={one} shortcut={one} />
        ))}
      </span>
    </Primitive.Item>
  )
}

function runAfterFocusReturn(run: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(run))
}

/** Returns the ids of recently run commands, newest first. */
function readRecentCommands(): readonly string[] {
  return recentCommandIds.read()
}

function saveRecentCommand(id: string): void {
  const others = readRecentCommands().filter((it) => it !== id)
  recentCommandIds.write([id, ...others].slice(0, maxRecentCommands))
}
