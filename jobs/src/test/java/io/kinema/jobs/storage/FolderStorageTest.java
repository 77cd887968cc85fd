package io.kinema.jobs.storage;

class FolderStorageTest extends StorageContract {
    @Override
    protected OutputStorage open() {
        return FolderStorage.open(folder.resolve("storage"));
    }
}
