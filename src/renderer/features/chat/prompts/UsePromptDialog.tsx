import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { TextAreaField } from '#renderer/ui/TextAreaField.tsx'
import type { Prompt } from '#shared/contract/chatLibrary.ts'
import { fillPrompt } from '#shared/promptText.ts'

type UsePromptDialogProps = { prompt: Prompt; onUse: (text: string) => void; onClose: () => void }

/** Form with a field for each variable and a preview of the text. */
export function UsePromptDialog({ prompt, onUse, onClose }: UsePromptDialogProps) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const filled = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
  const text = fillPrompt(prompt.text, filled)
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={prompt.title}
      onSubmit={() => onUse(text)}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary">
            Insert
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        {prompt.variables.map((name) => (
          <TextAreaField
            key={name}
            label={name}
            rows={1}
            value={values[name] ?? ''}
            onChange={(value) => setValues((before) => ({ ...before, [name]: value }))}
          />
        ))}
        <section aria-label="Preview">
          <p className="mb-1.5 font-medium">Preview</p>
          <p className="max-h-48 overflow-auto whitespace-pre-wrap break-words rounded-control border border-line bg-panel px-2.5 py-1.5 text-muted">
            {text}
          </p>
        </section>
      </div>
    </Dialog>
  )
}
