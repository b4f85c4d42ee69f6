import { Maximize2, Minimize2 } from 'lucide-react'
import { useState } from 'react'
import type { SandboxId } from '#shared/ids.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { joinClassNames } from '../../ui/classNames.ts'
import { IconButton } from '../../ui/IconButton.tsx'
import { TabPanel, Tabs } from '../../ui/Tabs.tsx'
import type { Drafts } from './editor/drafts.ts'
import { OpenedFileView } from './editor/OpenedFileView.tsx'
import { getBasename } from './paths.ts'
import type { OpenFiles } from './useOpenFiles.ts'

type OpenFilesViewProps = {
  sandboxId: SandboxId
  files: OpenFiles
  drafts: Drafts
  onSaved: (path: string) => void
}

/** Open files, shown below the tree or over all terminals. */
export function OpenFilesView({ sandboxId, files, drafts, onSaved }: OpenFilesViewProps) {
  const [large, setLarge] = useState(false)
  const { closing } = files
  return (
    <section
      aria-label="Open files"
      onKeyDown={(event) => {
        // Skipped if the editor handles the key, for example in its search.
        if (event.key === 'Escape' && large && !event.defaultPrevented) setLarge(false)
      }}
      className={joinClassNames(
        'flex flex-col bg-canvas',
        large
          ? 'fixed inset-4 z-30 overflow-hidden rounded-card shadow-dialog'
          : 'min-h-0 flex-[3] border-t border-line',
      )}
    >
      <Tabs
        label="Open files"
        tabs={files.paths.map((path) => ({
          id: path,
          label: getBasename(path),
          title: path,
          ...(files.unsaved.has(path) && {
            mark: <span role="img" aria-label="Not saved" className="size-2 shrink-0 rounded-full bg-caution" />,
          }),
        }))}
        value={files.shown ?? ''}
        onChange={files.show}
        onClose={files.requestClose}
        end={
          <IconButton
            size="small"
            label={large ? 'Exit full size' : 'Maximize'}
            icon={large ? Minimize2 : Maximize2}
            onClick={() => setLarge(!large)}
          />
        }
      >
        {files.paths.map((path) => (
          <TabPanel key={path} id={path} keepMounted>
            <OpenedFileView
              sandboxId={sandboxId}
              path={path}
              drafts={drafts}
              at={files.placeIn(path)}
              onUnsaved={(unsaved) => files.mark(path, unsaved)}
              onSaved={onSaved}
            />
          </TabPanel>
        ))}
      </Tabs>
      <ConfirmDialog
        open={closing !== undefined}
        onOpenChange={files.keep}
        title={`Close ${getBasename(closing ?? '')} without saving?`}
        description="Your unsaved changes are lost."
        confirmLabel="Close without saving"
        onConfirm={async () => closing !== undefined && files.close(closing)}
      />
    </section>
  )
}
