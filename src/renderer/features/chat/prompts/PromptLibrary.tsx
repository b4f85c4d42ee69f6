import { ArrowLeft, Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { FormDialog } from '#renderer/ui/FormDialog.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { TextAreaField } from '#renderer/ui/TextAreaField.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import type { Prompt } from '#shared/contract/chatLibrary.ts'
import { promptVariables } from '#shared/promptText.ts'
import { findPrompts } from './promptSearch.ts'
import { usePrompts } from './usePrompts.ts'

type PromptLibraryProps = { onUse?: ((prompt: Prompt) => void) | undefined; onClose: () => void }

/** Library of prompts: use, create, edit and delete. Mount only while open. */
export function PromptLibrary({ onUse, onClose }: PromptLibraryProps) {
  const { data, error, isPending, refetch, save, remove } = usePrompts()
  const [query, setQuery] = useState('')
  const [written, setWritten] = useState<Prompt | 'new'>()
  if (written !== undefined) {
    return (
      <PromptForm
        prompt={written === 'new' ? undefined : written}
        onSave={async (prompt) => {
          await save(written === 'new' ? undefined : written.id, prompt)
          setWritten(undefined)
        }}
        onBack={() => setWritten(undefined)}
      />
    )
  }
  const matches = findPrompts(data ?? [], query)
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Prompt library"
      description="Type / in a message to use one."
      width="wide"
      footer={
        <Button icon={Plus} variant="primary" onClick={() => setWritten('new')}>
          New prompt
        </Button>
      }
    >
      <div className="flex min-h-48 flex-col gap-3">
        {data && data.length > 5 && (
          <TextField label="Find a prompt" labelHidden placeholder="Find a prompt" value={query} onChange={setQuery} />
        )}
        {isPending && <SkeletonRows label="Loading prompts…" />}
        {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {data?.length === 0 && (
          <p className="text-muted">
            No prompts yet. Save texts that you send often. Steward asks for each {'{{name}}'} in a text when you use
            it.
          </p>
        )}
        {data && data.length > 0 && matches.length === 0 && <p className="text-muted">No matching prompt.</p>}
        <ul aria-label="Prompts" className="flex flex-col gap-0.5">
          {matches.map((prompt) => (
            <li key={prompt.id} className="flex items-center gap-1 rounded-control px-2 py-1 hover:bg-hover">
              <div className="min-w-0 flex-1">
                <p className="truncate font-medium">{prompt.title}</p>
                <p className="truncate text-small text-muted">{prompt.text}</p>
              </div>
              {onUse && (
                <Button size="small" onClick={() => onUse(prompt)} aria-label={`Use ${prompt.title}`}>
                  Use
                </Button>
              )}
              <IconButton
                size="small"
                label={`Edit ${prompt.title}`}
                icon={Pencil}
                onClick={() => setWritten(prompt)}
              />
              <IconButton
                size="small"
                label={`Delete ${prompt.title}`}
                icon={Trash2}
                onClick={() => void remove(prompt).catch(notify.failed)}
              />
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  )
}

type PromptFormProps = {
  prompt: Prompt | undefined
  onSave: (prompt: { title: string; text: string }) => Promise<void>
  onBack: () => void
}

function PromptForm({ prompt, onSave, onBack }: PromptFormProps) {
  const [title, setTitle] = useState(prompt?.title ?? '')
  const [text, setText] = useState(prompt?.text ?? '')
  const [tried, setTried] = useState(false)
  const variables = promptVariables(text)
  const isWhole = title.trim() !== '' && text.trim() !== ''
  const send = () => {
    setTried(true)
    return isWhole && onSave({ title, text })
  }
  return (
    <FormDialog
      title={prompt ? 'Edit prompt' : 'New prompt'}
      width="wide"
      staysOpen
      action="Save"
      back={{ label: 'Back', icon: ArrowLeft, run: onBack }}
      onSend={send}
      onClose={onBack}
    >
      <TextField
        label="Title"
        value={title}
        onChange={setTitle}
        error={tried && title.trim() === '' ? 'Enter a title.' : undefined}
      />
      <TextAreaField
        label="Text"
        rows={8}
        value={text}
        onChange={setText}
        error={tried && text.trim() === '' ? 'Enter a text.' : undefined}
        hint={
          variables.length > 0
            ? `Asks for: ${variables.join(', ')}.`
            : 'Use {{name}} for values that you fill in later.'
        }
      />
    </FormDialog>
  )
}
