import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { readAgain } from '#renderer/api/readAgain.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { describeError } from '#renderer/ui/describeError.ts'
import { SpentBar } from '#renderer/ui/SpentBar.tsx'
import type { Domain } from '#shared/contract/domains.ts'
import { domainsKey } from '../useDomains.ts'
import { type BulkProgress, runBulk } from './bulkRun.ts'

export type BulkChange = {
  /** Label of the action, such as `Lock transfers`. */
  title: string
  detail: string
  run: (domain: string) => Promise<unknown>
}

type BulkDialogProps = { change: BulkChange; domains: readonly Domain[]; onClose: () => void }

/** Asks for confirmation, shows progress and lists errors by domain. */
export function BulkDialog({ change, domains, onClose }: BulkDialogProps) {
  const queryClient = useQueryClient()
  // Fixed when the run starts, because each change may alter the list.
  const [names, setNames] = useState(() => domains.map(({ domain }) => domain))
  const [progress, setProgress] = useState<BulkProgress>()
  const [isRunning, setRunning] = useState(false)
  const isStopped = useRef(false)
  useEffect(
    () => () => {
      isStopped.current = true
    },
    [],
  )
  const run = async (of: string[]) => {
    isStopped.current = false
    setNames(of)
    setRunning(true)
    setProgress({ done: 0, failures: [] })
    await runBulk(of, change.run, { isStopped: () => isStopped.current, onProgress: setProgress })
    setRunning(false)
    await readAgain(queryClient, domainsKey)
  }
  const failures = progress?.failures ?? []
  const isOver = progress !== undefined && !isRunning
  const count = names.length === 1 ? '1 domain' : `${names.length.toLocaleString('en')} domains`
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !isRunning && onClose()}
      title={`${change.title}: ${count}`}
      description={change.detail}
      staysOpen
      footer={
        isRunning ? (
          <Button
            onClick={() => {
              isStopped.current = true
            }}
          >
            Stop
          </Button>
        ) : isOver ? (
          <>
            {failures.length > 0 && (
              <Button onClick={() => void run(failures.map(({ domain }) => domain))}>Retry failed</Button>
            )}
            <Button variant="primary" onClick={onClose}>
              Close
            </Button>
          </>
        ) : (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button variant="primary" onClick={() => void run(names)}>
              {change.title}
            </Button>
          </>
        )
      }
    >
      {progress && (
        <div className="flex flex-col gap-3">
          <div className="flex flex-col gap-1.5">
            <p role="status" className="tabular-nums">
              {progress.done - failures.length} of {names.length} changed
              {failures.length > 0 && `, ${failures.length} failed`}
              {isOver && progress.done < names.length && `, ${names.length - progress.done} not started`}
            </p>
            <SpentBar share={progress.done / names.length} />
          </div>
          {failures.length > 0 && (
            <ul aria-label="Failed" className="flex max-h-60 flex-col gap-1.5 overflow-y-auto">
              {failures.map(({ domain, failure }) => (
                <li key={domain} className="rounded-card bg-negative-soft px-3 py-1.5">
                  <span className="font-medium break-all">{domain}</span>{' '}
                  <span className="text-muted">{describeError(failure).message}</span>
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </Dialog>
  )
}
