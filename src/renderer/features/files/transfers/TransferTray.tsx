import { Check, FileUp, Pause, Play, RotateCw, X } from 'lucide-react'
import { useRef } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { describeError } from '#renderer/ui/describeError.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { formatSize, getBasename } from '../paths.ts'
import type { Transfer } from './transferList.ts'
import type { TransferQueue } from './transferQueue.ts'

type TransferTrayProps = {
  sandbox: Sandbox
  queue: TransferQueue
  transfers: readonly Transfer[]
  onWrongFile: (transfer: Transfer) => void
}

const maxRows = 50

export function TransferTray({ sandbox, queue, transfers, onWrongFile }: TransferTrayProps) {
  if (transfers.length === 0) return null
  const done = computeProgress(transfers)
  const size = transfers.reduce((sum, it) => sum + it.size, 0)
  const sent = transfers.reduce((sum, it) => sum + it.sent, 0)
  const open = [...transfers].sort((a, b) => Number(a.state === 'done') - Number(b.state === 'done'))
  return (
    <section aria-label="Transfers" className="flex max-h-56 shrink-0 flex-col border-t border-line bg-panel">
      <header className="flex h-8 shrink-0 items-center gap-2 pr-1.5 pl-3">
        <h3 className="min-w-0 flex-1 truncate text-small font-medium">
          {describeTransfers(transfers)}
          <span className="ml-2 font-normal text-muted tabular-nums">
            {formatSize(sent)} of {formatSize(size)}
          </span>
        </h3>
        {done > 0 && (
          <Button size="small" variant="ghost" onClick={queue.forgetDone}>
            Clear
          </Button>
        )}
      </header>
      {queue.isDiskFull() && (
        <div role="alert" className="flex items-center gap-2 bg-caution-soft py-1.5 pr-1.5 pl-3 text-small">
          <p className="min-w-0 flex-1">
            The disk of {sandbox.name} is full ({sandbox.disk_gb} GB). Free some space or use a larger disk.
          </p>
          <Button size="small" onClick={queue.resumeAll}>
            Resume
          </Button>
        </div>
      )}
      <ul className="min-h-0 overflow-auto pb-1">
        {open.slice(0, maxRows).map((transfer) => (
          <TransferRow key={transfer.id} transfer={transfer} queue={queue} onWrongFile={onWrongFile} />
        ))}
        {open.length > maxRows && <li className="px-3 py-1 text-small text-faint">and {open.length - maxRows} more</li>}
      </ul>
    </section>
  )
}

type TransferRowProps = Pick<TransferTrayProps, 'queue' | 'onWrongFile'> & { transfer: Transfer }

function TransferRow({ transfer, queue, onWrongFile }: TransferRowProps) {
  const { id, path, size, sent, state } = transfer
  const input = useRef<HTMLInputElement>(null)
  const name = getBasename(path)
  const share = size === 0 ? Number(state === 'done') : sent / size
  return (
    <li className="group flex items-center gap-2 py-1 pr-1.5 pl-3">
      <div className="min-w-0 flex-1">
        <div className="flex items-baseline gap-2">
          <span className="min-w-0 flex-1 truncate" title={path}>
            {name}
          </span>
          <span className={`shrink-0 text-tiny tabular-nums ${state === 'failed' ? 'text-negative' : 'text-faint'}`}>
            {describeTransfer(transfer)}
          </span>
        </div>
        {state !== 'done' && (
          <div
            role="progressbar"
            aria-label={`Upload of ${name}`}
            aria-valuemin={0}
            aria-valuemax={100}
            aria-valuenow={Math.round(share * 100)}
            className="mt-0.5 h-1 overflow-hidden rounded-full bg-selected"
          >
            <div className="h-full bg-accent-solid transition-[width]" style={{ width: `${share * 100}%` }} />
          </div>
        )}
        {state === 'failed' && (
          <p className="mt-0.5 text-tiny break-words text-muted">{describeError(transfer.failure).message}</p>
        )}
      </div>
      {state === 'done' && <Check aria-hidden className="mr-1.5 size-3.5 text-positive" />}
      {(state === 'sending' || state === 'lost' || state === 'waiting') && (
        <IconButton size="small" label={`Pause ${name}`} icon={Pause} onClick={() => queue.pause(id)} />
      )}
      {state === 'paused' && (
        <IconButton size="small" label={`Resume ${name}`} icon={Play} onClick={() => queue.resume(id)} />
      )}
      {state === 'failed' && (
        <IconButton size="small" label={`Retry ${name}`} icon={RotateCw} onClick={() => queue.resume(id)} />
      )}
      {state === 'needs-file' && (
        <>
          <IconButton
            size="small"
            label={`Choose ${name} again to resume`}
            icon={FileUp}
            onClick={() => input.current?.click()}
          />
          <input
            ref={input}
            type="file"
            hidden
            aria-label={`File to resume ${name}`}
            onChange={({ target }) => {
              const [file] = target.files ?? []
              if (file && !queue.giveFile(id, file)) onWrongFile(transfer)
              target.value = ''
            }}
          />
        </>
      )}
      {state !== 'done' && (
        <IconButton size="small" label={`Cancel ${name}`} icon={X} onClick={() => queue.cancel(id)} />
      )}
    </li>
  )
}

function describeTransfers(transfers: readonly Transfer[]): string {
  const done = computeProgress(transfers)
  if (done === transfers.length) return `${done} uploaded`
  const rest = transfers.every(({ state }) => state === 'done' || state === 'paused') ? 'Paused' : 'Uploading'
  return `${rest} ${done + 1} of ${transfers.length}`
}

function computeProgress(transfers: readonly Transfer[]): number {
  return transfers.filter(({ state }) => state === 'done').length
}

function describeTransfer({ state, sent, size, bytesPerSecond }: Transfer): string {
  const far = `${formatSize(sent)} of ${formatSize(size)}`
  switch (state) {
    case 'done':
      return formatSize(size)
    case 'sending':
      return bytesPerSecond > 0 ? `${far} · ${formatSize(bytesPerSecond)}/s` : far
    case 'lost':
      return 'connection lost, retrying'
    case 'paused':
      return `${far} · paused`
    case 'needs-file':
      return `${far} · choose the file again`
    case 'asking':
      return 'already exists'
    case 'failed':
      return 'failed'
    case 'waiting':
      return 'waiting'
  }
}
