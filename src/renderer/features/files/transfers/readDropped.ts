export type RelativeFile = { relativePath: string; file: File }
export type Dropped = { files: RelativeFile[]; folders: string[] }

/**
 * Reads dropped files and folders. Must be called synchronously in the event handler, because the items are cleared
 * afterwards.
 */
export async function readDropped(data: DataTransfer): Promise<Dropped> {
  const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null)
  const plain = [...data.files]
  const dropped: Dropped = { files: [], folders: [] }
  if (entries.length === 0) dropped.files.push(...plain.map((file) => ({ relativePath: file.name, file })))
  for (const entry of entries) await walk(entry, '', dropped)
  return dropped
}

/** Lists the files of an input, including one with `webkitdirectory`. */
export function listChosenFiles(files: FileList): RelativeFile[] {
  return [...files].map((file) => ({ relativePath: file.webkitRelativePath || file.name, file }))
}

async function walk(entry: FileSystemEntry, above: string, dropped: Dropped): Promise<void> {
  const relativePath = above + entry.name
  if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject))
    dropped.files.push({ relativePath, file })
  } else if (isFolder(entry)) {
    dropped.folders.push(relativePath)
    const reader = entry.createReader()
    // `readEntries` returns batches, and an empty one at the end.
    for (;;) {
      const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
      if (some.length === 0) return
      for (const each of some) await walk(each, `${relativePath}/`, dropped)
    }
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory
