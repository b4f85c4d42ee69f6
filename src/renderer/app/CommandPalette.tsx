import { Command as Primitive } from 'cmdk'
import { Search } from 'lucide-react'
import { Dialog as DialogPrimitive } from 'radix-ui'
import { type Command, useRegisteredCommands } from '../ui/commands/commandRegistry.tsx'
import { matches, parseShortcuts, thisKeyboard } from '../ui/commands/shortcuts.ts'
import { Kbd } from '../ui/Kbd.tsx'
import { useLayers } from '../ui/Layers.tsx'
import { useFocusReturn } from '../ui/useFocusReturn.ts'
import { bySection } from './bySection.ts'

type CommandPaletteProps = { open: boolean; onOpenChange: (open: boolean) => void }

export function CommandPalette({ open, onOpenChange }: CommandPaletteProps) {
  const giveFocusBack = useFocusReturn(open)
  return (
    <DialogPrimitive.Root open={open} onOpenChange={onOpenChange}>
      <DialogPrimitive.Portal container={useLayers()}>
        <DialogPrimitive.Overlay className="animate-fade fixed inset-0 z-40 bg-overlay" />
        <DialogPrimitive.Content
          aria-describedby={undefined}
          onCloseAutoFocus={giveFocusBack}
          onKeyDown={(event) => {
            const again = parseShortcuts('mod+k, mod+shift+p', thisKeyboard())
            if (!again.some((shortcut) => matches(shortcut, event))) return
            event.preventDefault()
            onOpenChange(false)
          }}
          className="animate-appear fixed top-[12vh] left-1/2 z-40 w-[calc(100%-2rem)] max-w-140 -translate-x-1/2 overflow-hidden rounded-dialog bg-raised text-text shadow-dialog outline-none"
        >
          <DialogPrimitive.Title className="sr-only">Commands</DialogPrimitive.Title>
          <CommandList onDone={() => onOpenChange(false)} />
        </DialogPrimitive.Content>
      </DialogPrimitive.Portal>
    </DialogPrimitive.Root>
  )
}

function CommandList({ onDone }: { onDone: () => void }) {
  const commands = useRegisteredCommands().filter(({ id }) => id !== 'window.palette')
  const run = (command: Command) => {
    onDone()
    // After the palette has given the focus back, so that what opens now can take it.
    requestAnimationFrame(() => requestAnimationFrame(command.run))
  }
  return (
    <Primitive label="Commands" loop>
      <div className="flex h-11 items-center gap-2.5 border-b border-line px-3.5">
        <Search aria-hidden className="size-4 shrink-0 text-faint" />
        <Primitive.Input
          placeholder="What do you want to do?"
          className="h-full min-w-0 flex-1 bg-transparent text-title outline-none"
        />
        <Kbd shortcut="escape" />
      </div>
      <Primitive.List label="Commands" className="max-h-[min(24rem,60vh)] overflow-auto p-1.5">
        <Primitive.Empty className="px-2.5 py-6 text-center text-muted">No matching command.</Primitive.Empty>
        {bySection(commands).map(([section, members]) => (
          <Primitive.Group
            key={section}
            heading={section}
            className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-tiny [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-faint"
          >
            {members.map((command) => (
              <CommandRow key={command.id} command={command} onSelect={() => run(command)} />
            ))}
          </Primitive.Group>
        ))}
      </Primitive.List>
    </Primitive>
  )
}

function CommandRow({ command, onSelect }: { command: Command; onSelect: () => void }) {
  const { id, title, section, icon: Icon, shortcut, keywords = [] } = command
  return (
    <Primitive.Item
      value={id}
      keywords={[title, section, ...keywords]}
      onSelect={onSelect}
      className="flex h-8 select-none items-center gap-2.5 rounded-control px-2 aria-selected:bg-selected"
    >
      {Icon ? <Icon aria-hidden className="size-4 shrink-0 text-muted" /> : <span className="size-4 shrink-0" />}
      <span className="min-w-0 flex-1 truncate">{title}</span>
      {shortcut && <Kbd shortcut={shortcut} />}
    </Primitive.Item>
  )
}
