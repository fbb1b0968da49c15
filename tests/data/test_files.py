import gzip

import numpy as np
import pytest

from helpers.data import files


def idx_bytes(array, kind=8):
    return bytes([0, 0, kind, array.ndim]) + np.array(array.shape, ">i4").tobytes() + array.tobytes()


@pytest.mark.parametrize("compressed", [False, True])
def test_an_idx_file_gives_its_array(tmp_path, compressed):
    images = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)
    data = idx_bytes(images)
    path = tmp_path / "images-idx3-ubyte"
    path.write_bytes(gzip.compress(data) if compressed else data)
    assert np.array_equal(files.idx(path), images)


def test_wider_types_come_in_the_order_of_this_machine(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(idx_bytes(np.array([1, -2, 70_000], ">i4"), kind=12))
    found = files.idx(path)
    assert found.tolist() == [1, -2, 70_000] and found.dtype.isnative


@pytest.mark.parametrize("data", [b"", b"PK\3\4", idx_bytes(np.zeros((2, 2), np.uint8))[:-1], b"\0\0\x08\3\0\0\0\1"])
def test_what_is_no_idx_file_is_refused(tmp_path, data):
    path = tmp_path / "broken"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="broken"):
        files.idx(path)


def test_cifar_files_give_images_and_labels_in_order(tmp_path):
    records = np.zeros((3, 3073), np.uint8)
    records[:, 0] = 9, 0, 4
    records[1, 1 + 1024] = 200  # the first pixel of the second channel
    one, two = tmp_path / "data_batch_1.bin", tmp_path / "data_batch_2.bin"
    one.write_bytes(records[:2].tobytes())
    two.write_bytes(records[2:].tobytes())
    images, labels = files.cifar10(one, two)
    assert images.shape == (3, 3, 32, 32) and labels.tolist() == [9, 0, 4]
    assert images[1, 1, 0, 0] == 200 and images.sum() == 200


def test_what_is_no_cifar_file_is_refused(tmp_path):
    path = tmp_path / "data_batch_1.bin"
    for data, words in ((b"", "records"), (bytes(3072), "records"), (bytes([10]) + bytes(3072), "label 10")):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=words):
            files.cifar10(path)
    with pytest.raises(ValueError, match="at least one"):
        files.cifar10()
