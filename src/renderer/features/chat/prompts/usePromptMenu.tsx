import { BookText } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useId, useState } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import type { Prompt } from '#shared/contract/chatLibrary.ts'
import { PromptLibrary } from './PromptLibrary.tsx'
import { findPrompts } from './promptSearch.ts'
import { UsePromptDialog } from './UsePromptDialog.tsx'
import { usePrompts } from './usePrompts.ts'

type PromptMenuOptions = { text: string; onText: (text: string) => void }

export type PromptMenu = {
  /** Menu above the field, shown while the user searches for a prompt. */
  menu: ReactNode
  dialog: ReactNode
  fieldProps: object
  /** @returns whether the key was handled */
  onKeyDown: (event: KeyboardEvent) => boolean
  open: () => void
}

const maxMatches = 8

/** Prompt menu of the composer. Typing `/` and letters at the beginning of a message searches the library. */
export function usePromptMenu({ text, onText }: PromptMenuOptions): PromptMenu {
  const { data: prompts = [] } = usePrompts()
  const listId = useId()
  const [at, setAt] = useState(0)
  const [dismissed, setDismissed] = useState('')
  const [filling, setFilling] = useState<Prompt>()
  const [library, setLibrary] = useState(false)
  const [, query] = /^\/([^\n/]{0,60})$/.exec(text) ?? []
  const isOpen = query !== undefined && dismissed !== text
  const matches = isOpen ? findPrompts(prompts, query).slice(0, maxMatches) : []
  const present = Math.min(at, Math.max(0, matches.length - 1))

  const use = (prompt: Prompt) => {
    if (prompt.variables.length > 0) setFilling(prompt)
    else onText(prompt.text)
    setAt(0)
  }
  return {
    open: () => setLibrary(true),
    fieldProps: isOpen
      ? {
          role: 'combobox',
          'aria-expanded': true,
          'aria-controls': listId,
          'aria-autocomplete': 'list',
          ...(matches.length > 0 && { 'aria-activedescendant': toOptionId(listId, present) }),
        }
      : {},
    onKeyDown(event) {
      if (!isOpen) return false
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
      const chosen = matches[present]
      if (step !== undefined && matches.length > 0) setAt((present + step + matches.length) % matches.length)
      else if ((event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey && chosen) use(chosen)
      else if (event.key === 'Escape') setDismissed(text)
      else return false
      event.preventDefault()
      return true
    },
    menu: isOpen && (
      <PromptList
        id={listId}
        matches={matches}
        present={present}
        hasPrompts={prompts.length > 0}
        onPresentChange={setAt}
        onUse={use}
        onLibrary={() => setLibrary(true)}
      />
    ),
    dialog: (
      <>
        {filling && (
          <UsePromptDialog
            prompt={filling}
            onClose={() => setFilling(undefined)}
            onUse={(filled) => {
              setFilling(undefined)
              onText(filled)
            }}
          />
        )}
        {library && (
          <PromptLibrary
            onClose={() => setLibrary(false)}
            onUse={(prompt) => {
              setLibrary(false)
              use(prompt)
            }}
          />
        )}
      </>
    ),
  }
}

type PromptListProps = {
  id: string
  matches: readonly Prompt[]
  /** Index of the selected match. */
  present: number
  hasPrompts: boolean
  onPresentChange: (index: number) => void
  onUse: (prompt: Prompt) => void
  onLibrary: () => void
}

function PromptList({ id, matches, present, hasPrompts, onPresentChange, onUse, onLibrary }: PromptListProps) {
  return (
    <div className="animate-appear absolute inset-x-0 bottom-full z-30 mb-2 overflow-hidden rounded-card bg-raised shadow-popover">
      <div id={id} role="listbox" aria-label="Prompts" tabIndex={-1} className="max-h-72 overflow-auto p-1">
        {matches.map((prompt, index) => (
          // The field keeps the focus, and has the keys.
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles keys
          <div
            key={prompt.id}
            tabIndex={-1}
            id={toOptionId(id, index)}
            role="option"
            aria-selected={index === present}
            onClick={() => onUse(prompt)}
            onPointerMove={() => onPresentChange(index)}
            onMouseDown={(event) => event.preventDefault()}
            className={joinClassNames(
              'flex items-baseline gap-2 rounded-control px-2 py-1',
              index === present && 'bg-selected',
            )}
          >
            <span className="shrink-0 font-medium">{prompt.title}</span>
            <span className="min-w-0 flex-1 truncate text-small text-muted">{prompt.text}</span>
          </div>
        ))}
        {matches.length === 0 && (
          <div role="option" tabIndex={-1} aria-disabled aria-selected={false} className="px-2 py-1.5 text-muted">
            {hasPrompts ? 'No matching prompt.' : 'No prompts yet.'}
          </div>
        )}
      </div>
      <button
        type="button"
        onClick={onLibrary}
        className="flex h-8 w-full items-center gap-2 border-t border-line px-3 text-small text-muted hover:bg-hover hover:text-text"
      >
        <BookText aria-hidden className="size-3.5" />
        Prompt library…
      </button>
    </div>
  )
}

function toOptionId(listId: string, index: number): string {
  return `${listId}-${index}`
}
