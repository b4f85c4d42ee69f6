import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import type { SandboxId } from '#shared/ids.ts'
import { startDownload } from '../fileLinks.ts'
import { formatSize, getBasename } from '../paths.ts'
import type { TextPosition } from './codeEditor.ts'
import type { Drafts } from './drafts.ts'
import { openFile } from './fileAccess.ts'
import { ImageView } from './ImageView.tsx'

const TextEditor = lazy(() => import('./TextEditor.tsx').then((it) => ({ default: it.TextEditor })))

type OpenedFileViewProps = {
  sandboxId: SandboxId
  path: string
  drafts: Drafts
  /** Position to scroll to. Each request is a new object. */
  at: TextPosition | undefined
  onUnsaved: (unsaved: boolean) => void
  onSaved: (path: string) => void
}

/** View of a file, depending on its type. The content is read once; afterwards the editor owns it. */
export function OpenedFileView({ sandboxId, path, drafts, at, onUnsaved, onSaved }: OpenedFileViewProps) {
  const agent = useAgent()
  const { data, error, refetch } = useQuery({
    queryKey: ['opened file', sandboxId, path],
    queryFn: ({ signal }) => openFile(agent, sandboxId, path, signal),
    gcTime: 0,
  })
  if (error) {
    return (
      <div className="p-3">
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </div>
    )
  }
  const opening = <p role="status" aria-busy="true" className="p-3 text-muted">{`Opening ${getBasename(path)}…`}</p>
  if (!data) return opening
  if (data.kind === 'text') {
    return (
      <Suspense fallback={opening}>
        <TextEditor
          sandboxId={sandboxId}
          path={path}
          text={data.text}
          version={data.version}
          drafts={drafts}
          at={at}
          onUnsaved={onUnsaved}
          onSaved={onSaved}
        />
      </Suspense>
    )
  }
  if (data.kind === 'image') {
    return <ImageView sandboxId={sandboxId} path={path} version={data.version} size={data.size} />
  }
  return (
    <div className="flex size-full flex-col items-center justify-center gap-3 p-6 text-center">
      <p className="text-muted">
        {data.kind === 'large' ? 'This file is too large to edit here' : 'This file is not text'} (
        {formatSize(data.size)}).
      </p>
      <Button icon={Download} onClick={() => startDownload(sandboxId, { path, isFolder: false })}>
        Download
      </Button>
    </div>
  )
}
