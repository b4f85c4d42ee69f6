import { FileUp } from 'lucide-react'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { FileButton } from '#renderer/ui/FileButton.tsx'
import { importConversations } from '#shared/contract/chatLibrary.ts'
import { chatLimits } from '#shared/contract/chats.ts'
import type { Output } from '#shared/contract/route.ts'

type Imported = Output<typeof importConversations>

/** Imports an export of another program. Mount only while open. */
export function ImportDialog({ onClose }: { onClose: () => void }) {
  const agent = useAgent()
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const [imported, setImported] = useState<Imported>()
  const read = async (file: File) => {
    setFailure(undefined)
    setImported(undefined)
    if (file.size > chatLimits.importBytes) {
      setFailure(new Error(`The file is larger than ${chatLimits.importBytes / 1024 ** 2} MB.`))
      return
    }
    setBusy(true)
    try {
      setImported(await agent(importConversations, {}, { bytes: file }))
    } catch (refusal) {
      setFailure(refusal)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !busy && onClose()}
      title="Import chats"
      description="From an export of ChatGPT, Claude, LibreChat or Open WebUI. Nothing is sent anywhere."
      footer={
        <>
          <Button onClick={onClose} disabled={busy}>
            {imported ? 'Done' : 'Cancel'}
          </Button>
          {!busy && (
            <FileButton
              label={imported ? 'Import another file' : 'Choose a file'}
              icon={FileUp}
              accept="application/json,.json"
              onFile={(file) => void read(file)}
            />
          )}
        </>
      }
    >
      <div className="flex flex-col gap-3">
        {!imported && !busy && (
          <p className="text-muted">
            Unpack the export first, then choose its JSON file: <code>conversations.json</code> for ChatGPT and Claude.
            You can import the same file again: only new chats and messages are added.
          </p>
        )}
        {busy && (
          <p role="status" className="text-muted">
            Importing…
          </p>
        )}
        {failure !== undefined && <ErrorNotice error={failure} />}
        {imported && <ImportResult imported={imported} />}
      </div>
    </Dialog>
  )
}

const formats = { chatgpt: 'ChatGPT', claude: 'Claude', librechat: 'LibreChat', 'open-webui': 'Open WebUI' } as const

function ImportResult({ imported }: { imported: Imported }) {
  const { format, found: total, unchanged, extended, messages, skipped, skipped_total: skippedTotal } = imported
  const chats = (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'chat' : 'chats'}`
  return (
    <div role="status" className="flex flex-col gap-1.5">
      <p className="font-medium">
        Imported {chats(imported.imported)} of {total.toLocaleString('en')} from {formats[format]}
      </p>
      <p className="text-muted">
        {messages.toLocaleString('en')} new messages.
        {extended > 0 && ` ${chats(extended)} got new messages.`}
        {unchanged > 0 && ` ${chats(unchanged)} had nothing new.`}
      </p>
      {skippedTotal > 0 && (
        <details>
          <summary className="text-caution">{chats(skippedTotal)} could not be imported</summary>
          <ul className="mt-1 max-h-40 overflow-auto text-small text-muted">
            {skipped.map(({ title, reason }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: titles may repeat, and the list does not change
              <li key={index}>
                {title}: {reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}
