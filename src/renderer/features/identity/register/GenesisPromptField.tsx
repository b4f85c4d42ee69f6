import { FileText, X } from 'lucide-react'
import { useRef, useState } from 'react'
import { AddressText } from '#renderer/ui/AddressText.tsx'
import { FileButton } from '#renderer/ui/FileButton.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { Select } from '#renderer/ui/Select.tsx'
import { TextAreaField } from '#renderer/ui/TextAreaField.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { hashPrompt, hashText } from './hashPrompt.ts'

type GenesisPromptFieldProps = {
  /** Empty for no prompt. */
  hash: string
  error: string | undefined
  onHash: (hash: string) => void
}

type Source = 'none' | 'typed' | 'file' | 'hash'

const sources: readonly { value: Source; label: string; detail?: string }[] = [
  { value: 'none', label: 'No results' },
  { value: 'typed', label: 'Type or paste', detail: 'Hashed in this window.' },
  { value: 'file', label: 'From a file', detail: 'Hashed in this window.' },
  { value: 'hash', label: 'I have the hash' },
]
const maxPromptBytes = 64 * 1024 * 1024

/**
 * Field for the genesis prompt. Only its hash is registered: anyone with the prompt can verify it later, but the hash
 * does not reveal it.
 */
export function GenesisPromptField({ hash, error, onHash }: GenesisPromptFieldProps) {
  const [source, setSource] = useState<Source>(hash === '' ? 'none' : 'hash')
  const [prompt, setPrompt] = useState('')
  const [fileName, setFileName] = useState<string>()
  const newest = useRef(0)

  /** Ensures that an earlier hash never overwrites later input. */
  const hashed = async (work: () => Promise<string>) => {
    newest.current += 1
    const turn = newest.current
    onHash('')
    try {
      const newHash = await work()
      if (turn === newest.current) onHash(newHash)
    } catch (error) {
      notify.failed(error, { title: 'Could not hash the prompt' })
    }
  }
  const type = (text: string) => {
    setPrompt(text)
    void hashed(async () => (text === '' ? '' : hashText(text)))
  }
  const take = (file: File) => {
    if (file.size > maxPromptBytes) return notify.failed(new Error(`${file.name} is larger than 64 MiB.`))
    setFileName(file.name)
    void hashed(async () => hashPrompt(new Uint8Array(await file.arrayBuffer())))
  }
  const clear = () => {
    setPrompt('')
    setFileName(undefined)
    void hashed(async () => '')
  }

  return (
    <div className="flex flex-col gap-3 rounded-card border border-line p-3.5">
      <Select
        label="Genesis prompt"
        hint="The first prompt of the automaton. Only its keccak256 hash is registered. The prompt never leaves this window."
        value={source}
        options={sources}
        onChange={(next) => {
          setSource(next)
          clear()
        }}
      />
      {source === 'typed' && (
        <TextAreaField label="Prompt" monospaced rows={5} value={prompt} onChange={type} spellCheck={false} />
      )}
      {source === 'file' && (
        <div className="flex items-center gap-2">
          <FileButton icon={FileText} label="Choose a file…" onFile={take} />
          {fileName !== undefined && (
            <>
              <span className="min-w-0 truncate text-muted">{fileName}</span>
              <IconButton label="Remove file" icon={X} onClick={clear} />
            </>
          )}
        </div>
      )}
      {source === 'hash' && (
        <TextField label="Hash" monospaced placeholder="0x…" value={hash} error={error} onChange={onHash} />
      )}
      {(source === 'typed' || source === 'file') && hash !== '' && (
        <p role="status" className="flex flex-wrap items-center gap-x-2 text-small text-muted">
          keccak256
          <AddressText whole text={hash} label="Copy hash" />
        </p>
      )}
    </div>
  )
}
